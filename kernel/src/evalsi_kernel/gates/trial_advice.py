"""The seam to what says how many trials a run would need: what it is fed, and what it tells.

It must not know how that is reckoned: it is in an extension (`evalsi-comparison`), loaded when a run has trials.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class TrialAdvice(Protocol):
    """Follows the trials of a run."""

    def add(self, metric: str, record_id: str, value: float) -> None:
        """Take in a trial that was scored, a pass as 1.0; of one metric the trials of a record follow one another."""

    def told(self) -> Mapping[str, Any] | None:
        """The advice as the results file has it under `trial_advice`; None where no record was scored twice."""
