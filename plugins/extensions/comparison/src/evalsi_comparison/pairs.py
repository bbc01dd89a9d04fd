"""Owns the pairing of one metric: each record's values in both runs, and what is left out and why.

Only what both runs scored is a pair; what one of them skipped or failed on is counted, and never a 0. It must not know
a test.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from .side import Column, Items, Side, State


class LeftOut(NamedTuple):
    """Items of one run that are in no pair, by what became of them there."""

    absent: int = 0
    skipped: int = 0
    errors: int = 0
    cancelled: int = 0
    unmatched: int = 0
    """Scored here, and not in the other run."""

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


class Pairs(NamedTuple):
    """What is compared of a metric, a row a record.

    Args:
        records: their places.
        base, candidate: of each the mean over its pairs; of labels the label of each pair.
        counts: of each the number of its pairs, above 1 where it has several trials.
        input_differs: items whose input is another in the other run; they are not paired.
        left_base, left_candidate: the other items that are not paired, by what became of them in each run.
        both_skipped: items that both runs skipped.
    """

    records: array[int]
    base: array[float]
    candidate: array[float]
    counts: array[int]
    input_differs: int
    left_base: LeftOut
    left_candidate: LeftOut
    both_skipped: int

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return sum(self.counts)

    @property
    def differences(self) -> array[float]:
        """Of each record the candidate's mean less the base's."""
        return array("d", [after - before for before, after in zip(self.base, self.candidate, strict=True)])


class _Counted:
    """Counts what is left out of one run."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(State, 0)

    def add(self, state: State) -> None:
        self._counts[state] += 1

    def left_out(self) -> LeftOut:
        count = self._counts
        return LeftOut(
            count[State.ABSENT],
            count[State.SKIPPED],
            count[State.ERROR],
            count[State.CANCELLED],
            count[State.SCORED],
        )


def differing_inputs(base: Side, candidate: Side) -> set[int]:
    """The places of records that are in both runs with different inputs."""
    return _differing(base.inputs, candidate.inputs)


def differing_references(base: Side, candidate: Side) -> set[int]:
    """The places of records that are in both runs with different references."""
    return _differing(base.references, candidate.references)


def pair_up(metric: str, base: Side, candidate: Side, items: Items, refused: set[int]) -> Pairs:
    """Pair a metric that both runs have.

    Args:
        metric: its name.
        base, candidate: the runs.
        items: the places of the items in both.
        refused: places of records whose inputs differ.
    """
    before, after = base.columns[metric], candidate.columns[metric]
    sums: dict[int, tuple[float, float, int]] = {}
    lefts = _Counted(), _Counted()
    input_differs = both_skipped = 0
    for place, record in enumerate(items.record_of):
        first, second = _state(base, before, place), _state(candidate, after, place)
        if first == second == State.ABSENT:
            continue
        if record in refused:
            input_differs += 1
        elif first == second == State.SKIPPED:
            both_skipped += 1
        elif first == second == State.SCORED:
            total_before, total_after, count = sums.get(record, (0.0, 0.0, 0))
            sums[record] = (
                total_before + (before.at(place) or 0.0),
                total_after + (after.at(place) or 0.0),
                count + 1,
            )
        else:
            lefts[0].add(first)
            lefts[1].add(second)
    return Pairs(
        array("l", sums),
        array("d", [one / count for one, _, count in sums.values()]),
        array("d", [one / count for _, one, count in sums.values()]),
        array("l", [count for _, _, count in sums.values()]),
        input_differs,
        lefts[0].left_out(),
        lefts[1].left_out(),
        both_skipped,
    )


def paired_labels(metric: str, base: Side, candidate: Side, items: Items, refused: set[int]) -> list[tuple[str, str]]:
    """The labels of each pair of a metric that gives labels."""
    before, after = base.columns[metric], candidate.columns[metric]
    names = list(before.labels), list(after.labels)
    return [
        (names[0][int(before.at(place) or 0)], names[1][int(after.at(place) or 0)])
        for place, record in enumerate(items.record_of)
        if record not in refused and _state(base, before, place) == _state(candidate, after, place) == State.SCORED
    ]


def _state(side: Side, column: Column, place: int) -> State:
    """How an item ended for the metric: an evaluator may score an item and give no value of this metric."""
    state = side.state(column.evaluator, place)
    return State.ABSENT if state == State.SCORED and column.at(place) is None else state


def _differing(base: array[int], candidate: array[int]) -> set[int]:
    return {
        place for place, (one, other) in enumerate(zip(base, candidate, strict=False)) if one and other and one != other
    }
