"""From the log of a run to its numbers: every item in order, whenever and in whatever order it was done.

The same log always gives the same numbers. It must not know how an item was done, nor what a gate asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgpack

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.ledger import Entry, Ledger
from evalsi_kernel.gates.baseline import RecordValues
from evalsi_kernel.gates.pass_at_k import PassAtK, Trial, succeeded, wanted_ks
from evalsi_kernel.gates.spec import slice_value
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.manifest import TargetUsage
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.values import numbers_of
from evalsi_kernel.scores.summaries import Summary
from evalsi_kernel.scores.tally import Tally
from evalsi_protocol.frames import Packed

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker

ITEMS_AT_ONCE = 256
MOST_SLICES = 1_000
_UNSCORED: dict[str, Trial] = {"error": "error", "skipped": "skipped", "cancelled": "cancelled"}
_NOT_REACHED: Outcome = ("cancelled", {"reason": "the run ended before it was done"})


def entries_of(scored: Mapping[str, Any]) -> Iterator[tuple[int, Entry]]:
    """What an item's evaluations asked of models, as it was written down: the session and each entry."""
    for session, entries in scored.get("asked", {}).items():
        for ref, tokens, cost_usd, calls, cached, failed in entries:
            yield session, Entry(ref, Tokens(*tokens), cost_usd, calls, cached, failed)


def folded(
    progress: Progress, items: Items, instances: Sequence[Instance], *, broker: Broker | None, usage: TargetUsage
) -> Iterator[tuple[Chunk, list[dict[str, Any]]]]:
    """The items of a run in order, a few hundred at a time, as an evaluation's answered chunks, and their records.

    The ledger of the broker is begun anew, and booked with what the log says; `usage` gets what the target took.
    """
    for failure in progress.replaced():
        usage.add(failure)
    if broker is not None:
        broker.ledger = Ledger()
    sessions = [instance.session for instance in instances]
    for start in range(0, len(items), ITEMS_AT_ONCE):
        some = range(start, min(start + ITEMS_AT_ONCE, len(items)))
        answers = [progress.generated(item) for item in some]
        bodies = [progress.scored(item) for item in some]
        for answer in filter(None, answers):
            usage.add(answer)
        given = [items.record(item, answer) for item, answer in zip(some, answers, strict=True)]
        outcomes = [_outcomes(answer, scored, sessions) for answer, scored in zip(answers, bodies, strict=True)]
        record_ids = [record["id"] for record in given]
        ids = [*map(items.id_on_the_wire, some, record_ids)]
        chunk = Chunk(
            Packed(msgpack.packb(given, use_bin_type=True)),
            ids,
            list(some),
            items.clusters(some, given),
            record_ids=record_ids,
            trials=[*map(items.trial, some)],
        )
        chunk.columns = {session: [of_item[session] for of_item in outcomes] for session in sessions}
        for index, scored in enumerate(bodies):
            for session, ms in (scored or {}).get("durations", {}).items():
                chunk.durations.setdefault(session, {})[index] = ms
        if broker is not None:
            for scored, record_id in zip(bodies, ids, strict=True):
                for session, entry in entries_of(scored or {}):
                    broker.ledger.book(session, record_id, entry)
        yield chunk, given


def _outcomes(
    answer: Mapping[str, Any] | None, scored: Mapping[str, Any] | None, sessions: Sequence[int]
) -> Mapping[int, Outcome]:
    if scored is not None:
        return {session: tuple(outcome) for session, outcome in scored["outcomes"].items()}
    outcome = ("error", answer["error"]) if answer is not None and "error" in answer else _NOT_REACHED
    return dict.fromkeys(sessions, outcome)


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

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk whose outcomes are tallied."""
        ids = chunk.record_ids or chunk.ids
        for instance, name, sums in self._sums:
            for record_id, outcome in zip(ids, chunk.columns[instance.session], strict=True):
                trial = self._trial(outcome or _NOT_REACHED, name, sums.metric)
                if trial is not None:
                    sums.add(record_id, trial)

    def _trial(self, outcome: Outcome, name: str, metric: str) -> Trial | None:
        kind, payload = outcome
        if kind in _UNSCORED:
            return _UNSCORED[kind]
        if kind != "scored":
            return None
        for score in payload:
            if (score.get("name") or "") == name and "label" not in score:
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
        self.overflown: set[str] = set()

    def add(self, chunk: Chunk, records: Sequence[Mapping[str, Any]]) -> None:
        """Take in a chunk whose outcomes are tallied."""
        for key in self._keys:
            places: dict[str, list[int]] = {}
            for index, record in enumerate(records):
                value = slice_value(record.get("metadata", {}).get(key))
                if value is not None:
                    places.setdefault(value, []).append(index)
            for value, indices in places.items():
                self._add(key, value, chunk, indices)

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
            named: [summary for tally in tallies for summary in _told(tally.summaries(None))]
            for named, tallies in sorted(self._tallies.items())
        }


def _told(summaries: list[Summary]) -> list[Summary]:
    """Without metrics that an evaluator declares and gave to no record, unless it gave none at all."""
    return [summary for summary in summaries if summary.n] or summaries


class PairedValues:
    """The values of some metrics by record, for gates that compare with a baseline.

    Args:
        metrics: their names.
        instances: the evaluators.
    """

    def __init__(self, metrics: Iterable[str], instances: Sequence[Instance]) -> None:
        self.values: dict[str, RecordValues] = {metric: {} for metric in metrics}
        self._instances = instances if self.values else ()

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk whose outcomes are tallied."""
        ids = chunk.record_ids or chunk.ids
        for instance in self._instances:
            for record_id, outcome in zip(ids, chunk.columns[instance.session], strict=True):
                for metric, value in numbers_of(instance, outcome):
                    if (values := self.values.get(metric)) is not None:
                        values[record_id] = (*values.get(record_id, ()), value)
