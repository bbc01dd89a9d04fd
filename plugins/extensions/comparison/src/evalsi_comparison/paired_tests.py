"""Owns the test and the interval of a paired difference: which is used where, and what stands where none is defined.

Which one and why: docs/how-to/compare-two-runs.md. It must not know records, files or metrics by name.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from evalsi_kernel.scores.clusters import ClusterSums
from evalsi_kernel.scores.intervals import Interval, IntervalMethod, StandardError, clustered_error
from evalsi_kernel.scores.moments import Moments
from evalsi_kernel.scores.student_t import t_critical

from .mcnemar import mcnemar_midp
from .sample_size import records_for_numbers, records_for_verdicts
from .score_interval import score_interval
from .student_p import t_two_sided

TEST_WORDS = {
    "mcnemar-midp": "McNemar's test (mid-p)",
    "paired-t": "the paired t test",
    "clustered-paired-t": "the paired t test over clusters",
    "sign-flip": "the exact sign test",
}
"""The names of the tests as a sentence writes them."""

_SEED = 0
# A spread smaller than this share of the values is the rounding of their subtraction, and of their means over trials.
_ROUNDING = 1e-13
LARGEST = 1e150
"""The largest value that can be tested: the squares of larger ones are beyond floats."""


class Tested(NamedTuple):
    """What a test finds.

    Args:
        ci: interval of the difference; None where it is undefined.
        p: two-sided p-value; None without pairs, or where a single one tells nothing.
        test: its name.
        needed: records to find a change of the size asked for; None where that is unknown.
    """

    ci: Interval | None = None
    p: float | None = None
    test: str = ""
    needed: int | None = None


def verdicts_tested(
    base: Sequence[float], candidate: Sequence[float], level: float, change: float, method: IntervalMethod | None
) -> Tested:
    """McNemar's test and Tango's interval for one verdict a record in each run, as 0 and 1."""
    n = len(base)
    if not n:
        return Tested()
    lost = sum(1 for before, after in zip(base, candidate, strict=True) if before > after)
    won = sum(1 for before, after in zip(base, candidate, strict=True) if before < after)
    differences = array("d", [after - before for before, after in zip(base, candidate, strict=True)])
    ci = _resampled(method, differences, array("d", [1.0]) * n, level, score_interval(lost, won, n, level))
    needed = records_for_verdicts(lost + won, n, change, level)
    return Tested(ci, mcnemar_midp(lost, won), "mcnemar-midp", needed)


def means_tested(
    differences: Sequence[float],
    size: float,
    level: float,
    change: float | None,
    method: IntervalMethod | None,
    *,
    clusters: Sequence[str] | None = None,
    of_verdicts: bool = False,
) -> Tested:
    """The paired t test on one difference a record.

    Args:
        differences: of each record, the mean over its trials.
        size: the largest of the values that were subtracted, by which rounding is told from a finding.
        level: confidence level of the interval.
        change: of which size a change is looked for in `needed`; None where none is.
        method: makes the interval in place of Student's t.
        clusters: of each record, where records come in clusters; the clusters are then what is independent.
        of_verdicts: the differences are of shares of verdicts, so that a score interval stands where t has none.
    """
    n = len(differences)
    if not n or size > LARGEST:
        return Tested()
    sums, counts = _units(differences, clusters)
    mean = math.fsum(differences) / n
    spread = max(differences) - min(differences) > _ROUNDING * size
    found = _standard_error(differences, sums, counts, clustered=clusters is not None) if spread else None
    if found is None:
        return _without_spread(differences, len(sums), mean, level, of_verdicts=of_verdicts, size=size)
    half, most = t_critical(level, found.df) * found.error, 1.0 if of_verdicts else math.inf
    test, name = ("paired-t", "t") if clusters is None else ("clustered-paired-t", "clustered-t")
    usual = Interval(max(mean - half, -most), min(mean + half, most), level, name)
    needed = None if change is None else records_for_numbers(found.error, n, change, level)
    p = t_two_sided(mean / found.error, found.df)
    return Tested(_resampled(method, sums, counts, level, usual), p, test, needed)


def _standard_error(
    differences: Sequence[float], sums: Sequence[float], counts: Sequence[float], *, clustered: bool
) -> StandardError | None:
    """Of the mean difference; None where it is undefined or zero."""
    if clustered:
        found = clustered_error(sums, counts)
        return found if found is not None and found.error else None
    moments = Moments()
    moments.add(differences)
    return StandardError(math.sqrt(moments.variance / moments.n), moments.n - 1) if moments.variance else None


def _without_spread(
    differences: Sequence[float], units: int, mean: float, level: float, *, of_verdicts: bool, size: float
) -> Tested:
    """Where all units differ by the same, the t test knows no error; signs and shares still say something."""
    same = abs(mean) <= _ROUNDING * size
    # Each of the units could as well have gone the other way: 2 of 2^units ways are as far from 0.
    p = 1.0 if same else 2.0 ** (1 - units) if units > 1 else None
    ci = None
    if of_verdicts:
        won = math.fsum(max(0.0, one) for one in differences) / len(differences) * units
        lost = math.fsum(max(0.0, -one) for one in differences) / len(differences) * units
        ci = score_interval(lost, won, units, level)
    return Tested(ci, p, "sign-flip")


def _units(differences: Sequence[float], clusters: Sequence[str] | None) -> tuple[array[float], array[float]]:
    if clusters is None:
        return array("d", differences), array("d", [1.0]) * len(differences)
    sums = ClusterSums()
    sums.add(differences, clusters)
    return sums.whole_sums(), sums.counts


def _resampled(
    method: IntervalMethod | None, sums: array[float], counts: array[float], level: float, usual: Interval
) -> Interval:
    if method is None:
        return usual
    found = method.interval(sums, counts, level, _SEED)
    return found or usual._replace(method=f"{usual.method} ({method.name} gives none)")
