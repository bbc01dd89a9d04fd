"""Aggregate the states of a dataset-scope evaluator into one score, and resample them for its interval.

States are resampled with replacement (percentile bootstrap, Efron 1979). An evaluator may supply a faster `resample`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evalsi.opened import Opened
from evalsi.opened import aggregate as aggregate_states
from evalsi.score import SCORED, Skip, scores_of
from evalsi.scoring import FAULTS, check_travels, failed, wire_of_failed

MAX_AGGREGATED = 20_000_000
"""Maximum number of states in all resamples together. Larger data sets get fewer resamples."""


class Aggregation:
    """The states of one dataset-scope session, in order of arrival."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._states: list[Any] = []

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self._states)

    def add(self, states: list[Any]) -> None:
        """Append more states."""
        self._states += states

    def finish(self, resamples: int, seed: int) -> dict[str, Any]:
        """Return the outcome, and the value of each metric in every resample.

        Returns:
            `{"outcome": kind, "payload": …, "replicates": {metric: [number, …]}}`. `replicates` is empty if no
            resamples were requested, there is no score, or there are fewer than two states.
        """
        try:
            if not self._states:
                raise Skip("no record could be observed")
            result = aggregate_states(self._opened, self._states)
            self._opened.check_result(result)
            scores = [wire_of_failed(self._opened, one) if "error" in one else one for one in scores_of(result)]
            check_travels(scores, "score")
        except FAULTS as error:
            _, _, kind, payload = failed(0, 0, self._opened, error)
            return {"outcome": kind, "payload": payload, "replicates": {}}
        replicates = self._resample(resamples, seed) if resamples and len(self._states) > 1 else {}
        return {"outcome": SCORED, "payload": scores, "replicates": replicates}

    def _resample(self, resamples: int, seed: int) -> dict[str, list[float]]:
        try:
            return _columns(self._resampled(resamples, seed))
        except FAULTS as error:
            # The score is still valid, but an interval needs every resample.
            from evalsi import fault_log

            fault_log.log(error)
            return {}

    def _resampled(self, resamples: int, seed: int) -> Iterable[Any]:
        instance, states = self._opened.instance, self._states
        if hasattr(instance, "resample"):
            resampled: Iterable[Any] = instance.resample(states, resamples, seed)
            return resampled
        from random import Random  # Imported late: few evaluators are resampled.

        generator = Random(seed)
        affordable = max(1, min(resamples, MAX_AGGREGATED // len(states)))
        drawn = (generator.choices(states, k=len(states)) for _ in range(affordable))
        return (aggregate_states(self._opened, sample) for sample in drawn)


def _columns(results: Iterable[Any]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    broken: set[str] = set()
    for result in results:
        for score in scores_of(result):
            if "error" in score:
                broken.add(score.get("name", ""))
            number = score.get("value", score.get("passed"))
            if number is not None:
                columns.setdefault(score.get("name", ""), []).append(float(number))
    # An interval needs every resample of its metric.
    return {name: column for name, column in columns.items() if name not in broken}
