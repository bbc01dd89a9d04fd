"""What a run adds up beside its summaries: pass@k from trials, slices by metadata, values by record for pairs.

It must not know where chunks come from, nor what a gate asks of the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evalsi_kernel.gates.baseline import RecordValues
from evalsi_kernel.gates.pass_at_k import PassAtK, Trial, succeeded, wanted_ks
from evalsi_kernel.gates.spec import slice_value
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.runs.manifest import ReplyEnd
from evalsi_kernel.runs.values import numbers_of
from evalsi_kernel.scores.summaries import Summary
from evalsi_kernel.scores.tally import UNANSWERED, Tally

MOST_SLICES = 1_000
_UNSCORED: dict[str, Trial] = {"error": "error", "skipped": "skipped", "cancelled": "cancelled"}


class TrialSums:
    """pass@k and pass^k of every pass/fail metric.

    Args:
        instances: the evaluators.
        gate_metrics: the metrics that gates name.
        trials: of each record.
        level: of the intervals.
    """

    def __init__(self, instances: Sequence[Instance], gate_metrics: Sequence[str], trials: int, level: float) -> None:
        self._sums: list[tuple[Instance, str, PassAtK]] = []
        for instance in instances:
            if instance.info.scope != "record":
                continue
            # A user's own function may pass or fail without having said so before.
            for output in instance.info.outputs or (OutputInfo("", "pass"),):
                metric = instance.metric(output.name)
                # Of a number only a gate says that 1 is meant as a success.
                if ks := wanted_ks(metric, gate_metrics, trials if output.kind == "pass" else 1):
                    self._sums.append((instance, output.name, PassAtK(metric, instance.name, ks, level=level)))
        self._passes: set[str] = set()
        self._numbers = {sums.metric for *_, sums in self._sums if wanted_ks(sums.metric, gate_metrics, 1)}

    def add(self, chunk: Chunk, clusters: Sequence[str] | None = None) -> None:
        """Take in a chunk whose outcomes are tallied, and what its records are clustered by beside their trials."""
        ids = chunk.record_ids or chunk.ids
        named: Sequence[str | None] = clusters or [None] * len(ids)
        for instance, name, sums in self._sums:
            for record_id, cluster, outcome in zip(ids, named, chunk.columns[instance.session], strict=True):
                trial = self._trial(outcome or UNANSWERED, name, sums.metric)
                if trial is not None:
                    sums.add(record_id, trial, cluster)

    def _trial(self, outcome: Outcome, name: str, metric: str) -> Trial | None:
        kind, payload = outcome
        if kind in _UNSCORED:
            return _UNSCORED[kind]
        if kind != "scored":
            return None
        for score in payload:
            if "error" in score and (score.get("name") or "") == name:
                return "error"
            fits = "passed" in score or ("value" in score and metric in self._numbers)
            if fits and (score.get("name") or "") == name:
                self._passes.add(metric)
                passed = score["passed"] if "passed" in score else succeeded(score["value"])
                return "passed" if passed else "failed"
        return None

    def summaries(self) -> dict[str, list[Summary]]:
        """By the metric that they are of; one that never passed or failed has none."""
        return {sums.metric: sums.summaries() for _, _, sums in self._sums if sums.metric in self._passes}


class Slices:
    """Summaries of the records that share a value of a metadata key.

    Args:
        keys: of the metadata.
        make_tallies: makes one tally for each evaluator.

    Attributes:
        overflown: the keys that have more than a thousand values, of which the first thousand are summed up.
    """

    def __init__(self, keys: Sequence[str], make_tallies: Callable[[], list[Tally]]) -> None:
        self._keys = keys
        self._make = make_tallies
        self._tallies: dict[tuple[str, str], list[Tally]] = {}
        self._ends: dict[tuple[str, str], Counter[ReplyEnd | None]] = {}
        self.overflown: set[str] = set()

    def add(self, chunk: Chunk, records: Sequence[Mapping[str, Any]], ends: Sequence[ReplyEnd | None]) -> None:
        """Take in a chunk whose outcomes are tallied, its records, and how the target's reply to each ended."""
        for key in self._keys:
            places: dict[str, list[int]] = {}
            for index, record in enumerate(records):
                value = slice_value(record.get("metadata", {}).get(key))
                if value is not None:
                    places.setdefault(value, []).append(index)
            for value, indices in places.items():
                self._add(key, value, chunk, indices)
                if (key, value) in self._tallies:
                    counts = self._ends.setdefault((key, value), Counter())
                    counts.update(ends[index] for index in indices)

    def _add(self, key: str, value: str, chunk: Chunk, indices: Sequence[int]) -> None:
        tallies = self._tallies.get((key, value))
        if tallies is None:
            if sum(of_key == key for of_key, _ in self._tallies) >= MOST_SLICES:
                self.overflown.add(key)
                return
            tallies = self._tallies[key, value] = self._make()
        clusters = None if chunk.clusters is None else [chunk.clusters[index] for index in indices]
        for tally in tallies:
            column = chunk.columns[tally.instance.session]
            tally.add([column[index] for index in indices], clusters)

    def summaries(self) -> dict[tuple[str, str], list[Summary]]:
        """By key and value, in the order of their names."""
        return {
            named: [
                summary._replace(truncated=self._ends[named]["truncated"], filtered=self._ends[named]["filtered"])
                for tally in tallies
                for summary in tally.told(tally.summaries(None))
            ]
            for named, tallies in sorted(self._tallies.items())
        }


class PairedValues:
    """The values of some metrics by record, and the clusters of these, for gates that compare with a baseline.

    Args:
        metrics: their names.
        instances: the evaluators.
    """

    def __init__(self, metrics: Iterable[str], instances: Sequence[Instance]) -> None:
        self.values: dict[str, RecordValues] = {metric: {} for metric in metrics}
        self.clusters: dict[str, str] = {}
        self._instances = instances if self.values else ()

    def add(self, chunk: Chunk, clusters: Sequence[str] | None = None) -> None:
        """Take in a chunk whose outcomes are tallied, and what its records are clustered by beside their trials."""
        ids = chunk.record_ids or chunk.ids
        if self.values:
            self.clusters.update(zip(ids, clusters or (), strict=False))
        for instance in self._instances:
            for record_id, outcome in zip(ids, chunk.columns[instance.session], strict=True):
                for metric, value in numbers_of(instance, outcome):
                    if (values := self.values.get(metric)) is not None:
                        values[record_id] = (*values.get(record_id, ()), value)
