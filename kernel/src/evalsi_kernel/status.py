"""The final status of a run."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from evalsi_kernel.errors import EvalsiError


class Status(Enum):
    """The final status of a run.

    `complete`; `incomplete`, if a question was not put to its model or no question was answered; `partial`, if the run
    was stopped; `failed`, if an error ended it.
    """

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    PARTIAL = "partial"
    FAILED = "failed"


class Ending(NamedTuple):
    """The status of a run, and the error that ended it early, if any."""

    status: Status
    error: EvalsiError | None = None
