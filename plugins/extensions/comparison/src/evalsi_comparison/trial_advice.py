"""Owns how many trials a run would need, so that chance in its trials moves a mean by no more than a margin.

It must not know how a run is made: it is fed its outcomes. What it tells is advice; no gate looks at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.runs.values import numbers_of
from evalsi_kernel.scores.student_t import z_critical

from .trial_spread import TrialSpread

MARGINS: Final = (0.05, 0.02, 0.01)
"""Of a mean, as shares of the metric's range; of one without a range, of the standard deviation of a trial."""
# Shares of a range that is narrower cannot be told from nothing.
_LEAST_SCALE: Final = 1e-150
METHOD: Final = "sampling in two stages: records, and trials of each"
NOTE: Final = (
    "trials_for_margin is how many trials of each record, over as many records, leave no more than the margin (a share "
    "of scale) of the mean to chance in the trials. record_margin is what the choice of the records leaves, which no "
    "trial narrows. This changes no gate."
)


class Advice:
    """Follows the trials of a run.

    Args:
        ranges: metric → (minimum, maximum) of its values, where they are declared; of pass/fail metrics (0, 1).
        instances: the evaluators of the run.
        trials: of each record.
        level: confidence level of the margins, between 0 and 1.
    """

    def __init__(
        self, ranges: Mapping[str, tuple[float, float]], instances: Iterable[Instance], trials: int, level: float
    ) -> None:
        self._ranges = ranges
        self._instances = [instance for instance in instances if instance.info.scope == "record"]
        self._trials = trials
        self._level = level
        self._spreads: dict[str, TrialSpread] = {}

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk whose outcomes are tallied; the trials of a record follow one another."""
        record_ids = chunk.record_ids or chunk.ids
        for instance in self._instances:
            for record_id, outcome in zip(record_ids, chunk.columns[instance.session], strict=True):
                for metric, value in numbers_of(instance, outcome):
                    self.add_trial(metric, record_id, value)

    def add_trial(self, metric: str, record_id: str, value: float) -> None:
        """Take in a trial that was scored, a pass as 1.0; of one metric the trials of a record follow one another."""
        spread = self._spreads.get(metric)
        if spread is None:
            spread = self._spreads[metric] = TrialSpread()
        spread.add(record_id, value)

    def told(self) -> Mapping[str, Any] | None:
        """The advice as the results file has it; None where no record was scored twice."""
        for spread in self._spreads.values():
            spread.close()
        told = [
            self._of(metric, spread)
            for metric, spread in self._spreads.items()
            if spread.repeated and not spread.is_beyond_floats
        ]
        if not told:
            return None
        return {"confidence": self._level, "trials": self._trials, "method": METHOD, "metrics": told, "note": NOTE}

    def _of(self, metric: str, spread: TrialSpread) -> dict[str, Any]:
        low, high = self._ranges.get(metric, (0.0, 1.0 if spread.are_verdicts else spread.deviation))
        width = high - low if metric in self._ranges else None
        scale, limit = high - low, spread.within_limit(self._level, width)
        # One record tells nothing of how far the trials of others lie apart, unless their values have bounds.
        is_known = math.isfinite(limit) and _LEAST_SCALE < scale < math.inf
        return {
            "metric": metric,
            "records": spread.records,
            "records_with_trials": spread.repeated,
            "scale": scale if is_known else None,
            "within_variance": spread.within,
            "within_variance_limit": limit if math.isfinite(limit) else None,
            "trial_margin": self._margin(limit, spread.records) if is_known else None,
            "record_margin": spread.margin_of_records(self._level) if is_known else None,
            "trials_for_margin": {
                f"{margin:g}": self._needed(limit, spread.records, margin * scale) for margin in MARGINS if is_known
            },
        }

    def _margin(self, limit: float, records: int) -> float:
        """What chance leaves of the mean with the trials that there are."""
        return z_critical(self._level) * math.sqrt(limit / (records * self._trials))

    def _needed(self, limit: float, records: int, margin: float) -> int:
        """Trials of each record that leave no more than a margin."""
        deviations = z_critical(self._level) * math.sqrt(limit) / margin
        return max(1, math.ceil(deviations * deviations / records))
