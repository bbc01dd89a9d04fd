"""Owns the comparison of errors: on how many of the same items each run failed, and whether the difference is chance.

An error is never a score, so it is in no metric; a run that fails more often is worse all the same. It must not know
what failed, nor how it is shown.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection
from typing import Any, NamedTuple

from .difference import POINTS, Settings
from .paired_tests import Tested, means_tested, verdicts_tested
from .side import Items, Side, State

_NO_END = frozenset({State.ABSENT, State.CANCELLED})


class Errors(NamedTuple):
    """What the comparison says of errors.

    Args:
        base, candidate: on how many items at least one evaluator failed, of those that both runs came to an end with.
        items: how many those are; `records` of how many records.
        difference: the candidate's share of errors less the base's, a mean over the records.
        tested: of it.
    """

    base: int
    candidate: int
    items: int
    records: int
    difference: float
    tested: Tested

    def direction(self, alpha: float) -> str:
        """`worse` or `better` where the difference is no chance; else `same`."""
        if self.tested.p is None or self.tested.p >= alpha or not self.difference:
            return "same"
        return "worse" if self.difference > 0 else "better"


def compare_errors(
    base: Side, candidate: Side, items: Items, refused: set[int], evaluators: Collection[str], *, settings: Settings
) -> Errors:
    """Compare on how many items the runs failed.

    Args:
        base, candidate: the runs.
        items: the places of the items in both.
        refused: places of records whose inputs differ.
        evaluators: whose errors count, of those that both runs have.
        settings: how.
    """
    common = [name for name in base.states if name in candidate.states and name in evaluators]
    rows = zip(items.record_of, *(_failures(side, common, len(items)) for side in (base, candidate)), strict=True)
    sums: dict[int, tuple[int, int, int]] = {}
    for record, first, second in rows:
        if first is not None and second is not None and record not in refused:
            one, other, count = sums.get(record, (0, 0, 0))
            sums[record] = one + first, other + second, count + 1
    before, after = (array("d", [row[side] / row[2] for row in sums.values()]) for side in (0, 1))
    differences = array("d", [other - one for one, other in zip(before, after, strict=True)])
    clusters = [candidate.clusters[record] for record in sums] if candidate.clusters else None
    if clusters is None and all(count == 1 for _, _, count in sums.values()):
        tested = verdicts_tested(before, after, settings.level, POINTS, settings.method)
    else:
        tested = means_tested(
            differences, 1.0, settings.level, None, settings.method, clusters=clusters, of_verdicts=True
        )
    return Errors(
        base=sum(row[0] for row in sums.values()),
        candidate=sum(row[1] for row in sums.values()),
        items=sum(row[2] for row in sums.values()),
        records=len(sums),
        difference=math.fsum(differences) / len(sums) if sums else 0.0,
        tested=tested,
    )


def errors_dict(found: Errors, alpha: float) -> dict[str, Any]:
    """The comparison of errors as JSON values."""
    ci, direction = found.tested.ci, found.direction(alpha)
    return {
        "base": found.base,
        "candidate": found.candidate,
        "of": found.items,
        "records": found.records,
        "difference": found.difference,
        "ci": None if ci is None else {"low": ci.low, "high": ci.high, "level": ci.level, "method": ci.method},
        "p": found.tested.p,
        "test": found.tested.test or None,
        "significant": direction != "same",
        "direction": direction,
    }


def errors_told(found: Errors) -> str:
    """The counts as a clause, such as `126 against 30 of 527 records, p < 0.001`."""
    what = "record" if found.items == found.records else "item"
    counts = f"{found.candidate:,} against {found.base:,} of {found.items:,} {what}{'' if found.items == 1 else 's'}"
    return counts if found.tested.p is None else f"{counts}, {p_told(found.tested.p)}"


def p_told(p: float | None) -> str:
    """A p-value in a sentence."""
    return "p < 0.001" if p is None or p < 0.001 else f"p = {p:.2g}"


def _failures(side: Side, evaluators: Collection[str], count: int) -> list[int | None]:
    """Of each item 1 where an evaluator failed on it, 0 where none did; None where none came to an end."""
    columns = [bytes(side.states[name]).ljust(count, bytes([State.ABSENT])) for name in evaluators]
    if not columns:
        return [None] * count
    return [None if _NO_END.issuperset(states) else int(State.ERROR in states) for states in zip(*columns, strict=True)]
