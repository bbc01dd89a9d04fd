"""The seam to what says how many trials a run would need: what it is fed, and what it tells.

It must not know how that is reckoned: it is in an extension (`evalsi-comparison`), loaded when a run has trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from evalsi_kernel.records.chunks import Chunk


class TrialAdvice(Protocol):
    """Follows the trials of a run."""

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk whose outcomes are tallied; the trials of a record follow one another."""

    def told(self) -> Mapping[str, Any] | None:
        """The advice as the results file has it under `trial_advice`; None where no record was scored twice."""
