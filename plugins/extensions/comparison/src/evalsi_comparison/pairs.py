"""Owns the pairing of one metric: each record's values in both runs, and what is left out and why.

Only what both runs scored is a pair; what one of them skipped or failed on is counted, and never a 0. It must not know
a test.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import NamedTuple

from .side import Items, Side, State

# Values closer than this share of their size differ by the rounding of floats: 0.1 + 0.2 and 0.3.
_ROUNDING = 1e-13


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
        trials: of each the first trial in which the runs differ, or its first.
        input_differs: items whose input is another in the other run; they are not paired.
        left_base, left_candidate: the other items that are not paired, by what became of them in each run.
        both_skipped: items that both runs skipped.
    """

    records: array[int]
    base: array[float]
    candidate: array[float]
    counts: array[int]
    trials: array[int]
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


def settled(before: float, after: float) -> float:
    """Return the later of two values; the earlier one where they differ by the rounding of floats only."""
    return before if math.isclose(before, after, rel_tol=_ROUNDING, abs_tol=1e-300) else after


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
    count = len(items)
    rows = zip(
        items.record_of,
        items.trials,
        base.states_of(metric, count),
        candidate.states_of(metric, count),
        base.columns[metric].padded(count),
        candidate.columns[metric].padded(count),
        strict=True,
    )
    sums: dict[int, tuple[float, float, int, int]] = {}
    lefts = dict.fromkeys(State, 0), dict.fromkeys(State, 0)
    input_differs = both_skipped = 0
    for record, trial, first, second, before, after in rows:
        if first == second == State.ABSENT:
            continue
        if record in refused:
            input_differs += 1
        elif first == second == State.SKIPPED:
            both_skipped += 1
        elif first == second == State.SCORED:
            one, other, count, shown = sums.get(record, (0.0, 0.0, 0, trial))
            # The first trial is shown until one differs.
            sums[record] = one + before, other + after, count + 1, trial if one == other and before != after else shown
        else:
            lefts[0][State(first)] += 1
            lefts[1][State(second)] += 1
    return Pairs(
        array("l", sums),
        array("d", [one / count for one, _, count, _ in sums.values()]),
        array("d", [settled(one / count, other / count) for one, other, count, _ in sums.values()]),
        array("l", [count for _, _, count, _ in sums.values()]),
        array("l", [trial for _, _, _, trial in sums.values()]),
        input_differs,
        _left_out(lefts[0]),
        _left_out(lefts[1]),
        both_skipped,
    )


def paired_labels(metric: str, base: Side, candidate: Side, items: Items, refused: set[int]) -> list[tuple[str, str]]:
    """The labels of each pair of a metric that gives labels."""
    sides, count = (base, candidate), len(items)
    names = [list(side.columns[metric].labels) for side in sides]
    states = [side.states_of(metric, count) for side in sides]
    values = [side.columns[metric].padded(count) for side in sides]
    return [
        (names[0][int(before)], names[1][int(after)])
        for record, first, second, before, after in zip(items.record_of, *states, *values, strict=True)
        if record not in refused and first == second == State.SCORED
    ]


def _left_out(counts: Mapping[State, int]) -> LeftOut:
    return LeftOut(
        counts[State.ABSENT],
        counts[State.SKIPPED],
        counts[State.ERROR],
        counts[State.CANCELLED],
        counts[State.SCORED],
    )


def _differing(base: array[int], candidate: array[int]) -> set[int]:
    return {
        place for place, (one, other) in enumerate(zip(base, candidate, strict=False)) if one and other and one != other
    }
