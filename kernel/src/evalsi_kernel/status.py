"""How a run ended.

It must not know how it went.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from evalsi_kernel.errors import EvalsiError


class Status(Enum):
    """`complete`; `partial`, because it was stopped; or `failed`, because of an error on the way."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ending:
    """The status of a run, and the error that ended it early."""

    status: Status
    error: EvalsiError | None = None
