"""How a run ended.

It must not know how it went.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from evalsi_kernel.errors import EvalsiError


class Status(Enum):
    """How a run ended.

    `complete`; `incomplete`, because a model was not asked or answered nothing; `partial`, because it was stopped; or
    `failed`, because of an error on the way.
    """

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    PARTIAL = "partial"
    FAILED = "failed"


class Ending(NamedTuple):
    """The status of a run, and the error that ended it early."""

    status: Status
    error: EvalsiError | None = None
