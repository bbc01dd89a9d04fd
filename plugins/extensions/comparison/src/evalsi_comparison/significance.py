"""Owns what a gate with `significant` asks of two runs: whether the difference of their records may be chance.

It must not know what the gate makes of it, nor files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalsi_kernel.gates.baseline import PairedDifference, RecordValues
from evalsi_kernel.gates.bounds import told

from .difference import POINTS, Settings
from .paired_tests import LARGEST, means_tested, verdicts_tested
from .pairs import settled

_TESTS = {"mcnemar-midp": "McNemar's test", "sign-flip": "the exact sign test"}


def paired_difference(
    base: RecordValues, cand: RecordValues, level: float, clusters: Mapping[str, str] | None = None
) -> PairedDifference | None:
    """Compare two runs record by record.

    Args:
        base: values of the baseline.
        cand: values of the candidate.
        level: confidence level, strictly between 0 and 1; a p-value below 1 - level is no chance.
        clusters: record → its cluster; none where records count one by one.

    Returns:
        Candidate minus baseline; None where no record was scored by both, or a value is too large to be tested.

    For one verdict a record it is McNemar's test that decides; else Student's interval of the differences, and where
    these are all the same, so that it has no spread to go by, the exact test of their signs. Of records in clusters it
    is the interval with cluster-robust errors.
    """
    before, after = _means(base), _means(cand)
    shared = [record for record in before if record in after]
    largest = max((abs(value) for record in shared for value in (before[record], after[record])), default=0.0)
    if not shared or largest > LARGEST:
        return None
    for record in shared:
        if len(base[record]) + len(cand[record]) > 2:
            after[record] = settled(before[record], after[record])
    differences = [after[record] - before[record] for record in shared]
    won, lost = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    names = [clusters[record] for record in shared] if clusters else None
    of_verdicts = _are_verdicts(base) and _are_verdicts(cand)
    if of_verdicts and names is None and all(len(one) == 1 for one in (*base.values(), *cand.values())):
        sides = [before[record] for record in shared], [after[record] for record in shared]
        tested = verdicts_tested(*sides, level, POINTS, None)
    else:
        tested = means_tested(differences, largest, level, None, None, clusters=names, of_verdicts=of_verdicts)
    # Of a single pair, which could as well have gone the other way, nothing is known.
    p = 1.0 if tested.p is None else tested.p
    is_significant = p < Settings(level).alpha
    low, high = (tested.ci.low, tested.ci.high) if tested.ci else (None, None)
    found = f"p = {p:.3g} by {_TESTS[tested.test]}" if tested.test in _TESTS else _interval_told(level, low, high)
    alone = len(before) + len(after) - 2 * len(shared)
    others = f", {alone} records without a pair left out" if alone else ""
    over = f"{len(shared)} pairs" + (f" in {len(set(names))} clusters" if names else "")
    if not (won or lost):
        said = f"Over {over} there is no difference{others}."
    else:
        chance = "is no chance" if is_significant else "may be chance"
        said = f"Over {over} the difference {chance} ({found}{others})."
    return PairedDifference(low, high, is_significant, said, math.fsum(differences) / len(shared))


def _means(values: RecordValues) -> dict[str, float]:
    return {record: sum(of_trials) / len(of_trials) for record, of_trials in values.items()}


def _are_verdicts(values: RecordValues) -> bool:
    """Whether every trial passed or failed."""
    return all(value in (0.0, 1.0) for one in values.values() for value in one)


def _interval_told(level: float, low: float | None, high: float | None) -> str:
    return f"{level:.4g} interval of the difference {told(low or 0.0)} to {told(high or 0.0)}"
