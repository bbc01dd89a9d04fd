"""The paired test behind gates with `significant`, made as `evalsi compare` makes it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalsi_kernel.gates.baseline import PairedDifference, RecordValues

from .difference import POINTS
from .paired_tests import LARGEST, TEST_WORDS, means_tested, verdicts_tested
from .pairs import settled


def paired_difference(
    base: RecordValues,
    cand: RecordValues,
    level: float,
    clusters: Mapping[str, str] | None = None,
    *,
    of_verdicts: bool = False,
) -> PairedDifference | None:
    """Compare two runs record by record.

    Args:
        base: values of the baseline.
        cand: values of the candidate.
        level: confidence level of the interval, strictly between 0 and 1.
        clusters: record → its cluster; None or empty where records count one by one.
        of_verdicts: whether the metric is pass/fail.

    Returns:
        The test of candidate minus baseline; None where no record was scored by both, or a value is too large.

    One verdict a record is tested by McNemar's test, everything else by the paired t test, with cluster-robust errors
    where records come in clusters. Where all differences are equal, the exact sign test takes the place of t.
    """
    before, after = _means(base), _means(cand)
    shared = [record for record in before if record in after]
    largest = max((abs(value) for record in shared for value in (before[record], after[record])), default=0.0)
    if not shared or largest > LARGEST:
        return None
    for record in shared:
        after[record] = settled(before[record], after[record])
    differences = [after[record] - before[record] for record in shared]
    names = [clusters[record] for record in shared] if clusters else None
    if of_verdicts and names is None and all(len(base[one]) == len(cand[one]) == 1 for one in shared):
        sides = [before[record] for record in shared], [after[record] for record in shared]
        tested = verdicts_tested(*sides, level, POINTS, None)
    else:
        tested = means_tested(differences, largest, level, None, None, clusters=names, of_verdicts=of_verdicts)
    low, high = (tested.ci.low, tested.ci.high) if tested.ci else (None, None)
    return PairedDifference(
        low,
        high,
        tested.p,
        TEST_WORDS[tested.test],
        math.fsum(differences) / len(shared),
        pairs=len(shared),
        clusters=None if names is None else len(set(names)),
        unpaired=len(before) + len(after) - 2 * len(shared),
        is_same=not any(differences),
    )


def _means(values: RecordValues) -> dict[str, float]:
    return {record: sum(of_trials) / len(of_trials) for record, of_trials in values.items()}
