"""Owns confidence intervals: pure functions from counts and moments to an interval, and the seam for other methods.

Knows nothing of records, evaluators or runs. Which method is used where, and why: docs/decisions/0004-intervals.md.
"""

import math
from array import array
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from evalsi_kernel.scores.student_t import require_level, t_critical, z_critical

# A clustered spread smaller than this share of the cluster sums is the rounding of their addition, not a finding.
_ROUNDING = 1e-13


class Interval(NamedTuple):
    """A confidence interval: its ends, its confidence level (0 to 1) and the name of the method that made it."""

    low: float
    high: float
    level: float
    method: str


class IntervalMethod(Protocol):
    """A way to make an interval for a mean; an extension provides one under the name that `--ci` selects."""

    @property
    def name(self) -> str:
        """The name that the interval carries as its method."""

    def interval(self, sums: "array[float]", counts: "array[float]", level: float, seed: int) -> Interval | None:
        """An interval for sum(sums) / sum(counts), where each position is one independent unit.

        Args:
            sums: the sum of each unit's values; for a single record its value.
            counts: how many values each unit holds; for a single record 1.
            level: confidence level, strictly between 0 and 1.
            seed: seed of any random choice; the same seed and the same units, in any order, give the same interval.

        Returns:
            The interval, or None where the method has none, above all where the units have no spread.
        """


def wilson(passed: float, n: float, level: float) -> Interval:
    """Wilson's score interval for a share; never of zero width.

    Args:
        passed: how many passed, from 0 to n; a fraction where the sample size is an effective one.
        n: how many were scored, above 0.
        level: confidence level, strictly between 0 and 1.

    Raises:
        ValueError: `n` is not above 0, or `passed` is not from 0 to `n`.

    Source: Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not (n > 0 and 0 <= passed <= n):
        raise ValueError(f"Wilson's interval needs 0 <= passed <= n and n > 0, not passed={passed!r}, n={n!r}.")
    return _wilson(passed / n, n, level, "wilson")


def student_t(
    n: int,
    mean: float,
    variance: float,
    level: float,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Interval | None:
    """Student's t interval for a mean, cut to the declared range of the values.

    Args:
        n: how many values.
        mean: their mean.
        variance: their sample variance (divisor n - 1).
        level: confidence level, strictly between 0 and 1.
        minimum: the least value that the metric can take, if declared.
        maximum: the greatest value that the metric can take, if declared.

    Returns:
        The interval, or None for n < 2 or without any variance: a width of zero would claim a certainty that no
        sample gives.

    Source: Student, The probable error of a mean, Biometrika 6 (1908).
    """
    if n < 2:
        return None
    half = t_critical(level, n - 1) * math.sqrt(variance / n)
    return _around(mean, half, level, "t", minimum=minimum, maximum=maximum)


def clustered_t(
    sums: Sequence[float],
    counts: Sequence[float],
    level: float,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    origin: float = 0.0,
) -> Interval | None:
    """Interval for the mean over all values, with a cluster-robust (CR1) standard error and C - 1 degrees of freedom.

    Args:
        sums: for each of the C clusters the sum of (value - origin).
        counts: for each cluster the number of its values, above 0.
        level: confidence level, strictly between 0 and 1.
        minimum: the least value that the metric can take, if declared.
        maximum: the greatest value that the metric can take, if declared.
        origin: a number near the values, taken off each of them to keep the digits in which they differ.

    Returns:
        The interval, or None for fewer than two clusters or where all clusters have the same mean.

    Source: Liang & Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73 (1986);
    factor C / (C - 1) and degrees of freedom from Cameron & Miller, A practitioner's guide to cluster-robust
    inference, J. Human Resources 50 (2015), sections II and VI.
    """
    clusters = len(counts)
    if clusters < 2:
        return None
    half = t_critical(level, clusters - 1) * math.sqrt(_clustered_variance(sums, counts))
    mean = origin + math.fsum(sums) / math.fsum(counts)
    return _around(mean, half, level, "clustered-t", minimum=minimum, maximum=maximum)


def clustered_wilson(passed: Sequence[float], counts: Sequence[float], level: float) -> Interval | None:
    """Wilson's interval on the Korn-Graubard effective sample size, for shares whose records come in clusters.

    Where every cluster has the same share, and above all where every record passes or every record fails, the
    spread between clusters is zero and says nothing; the number of clusters is then the sample size.

    Args:
        passed: for each of the C clusters how many of its records passed.
        counts: for each cluster the number of its records, above 0.
        level: confidence level, strictly between 0 and 1.

    Returns:
        The interval, never of zero width, or None for fewer than two clusters.

    Source: Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 24 (1998), with Wilson's interval in place of Clopper-Pearson's.
    """
    clusters = len(counts)
    if clusters < 2:
        return None
    n = math.fsum(counts)
    share = math.fsum(passed) / n
    variance = _clustered_variance(passed, counts)
    if variance > 0:
        narrowing = z_critical(level) / t_critical(level, clusters - 1)
        effective_n = min(n, share * (1 - share) / variance * narrowing * narrowing)
    else:
        effective_n = float(clusters)
    return _wilson(share, effective_n, level, "clustered-wilson")


def percentile_interval(replicates: Sequence[float], level: float) -> Interval | None:
    """The percentile bootstrap interval from the values that a statistic took on resampled data.

    Args:
        replicates: the statistic on each resample, in any order; all finite.
        level: confidence level, strictly between 0 and 1.

    Returns:
        The interval, or None where there are too few replicates to have one beyond each end (fewer than
        2 / (1 - level), 40 for 0.95), or where the ends coincide.

    Raises:
        ValueError: a replicate is NaN or infinite.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13; quantiles interpolated linearly.
    """
    require_level(level)
    if not all(map(math.isfinite, replicates)):
        raise ValueError("A bootstrap replicate is NaN or infinite; leave out the resamples where the metric failed.")
    if len(replicates) * (1.0 - level) < 2.0 - 1e-9:
        return None
    ordered = sorted(replicates)
    low, high = (_quantile(ordered, share) for share in ((1.0 - level) / 2.0, (1.0 + level) / 2.0))
    return Interval(low, high, level, "bootstrap") if low < high else None


def _wilson(share: float, n: float, level: float, method: str) -> Interval:
    z = z_critical(level)
    spread = z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt((share * (1 - share) + spread / 4) / n) / (1 + spread)
    # The formula meets 0 and 1 exactly at these two shares; rounding does not.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return Interval(low, high, level, method)


def _around(
    mean: float, half: float, level: float, method: str, *, minimum: float | None, maximum: float | None
) -> Interval | None:
    low, high = mean - half, mean + half
    if minimum is not None:
        low = max(low, minimum)
    if maximum is not None:
        high = min(high, maximum)
    # False also where a sum went past the largest float, and where values lie outside their declared range.
    return Interval(low, high, level, method) if -math.inf < low < high < math.inf else None


def _clustered_variance(sums: Sequence[float], counts: Sequence[float]) -> float:
    """The CR1 variance of sum(sums) / sum(counts); exactly zero where only rounding separates the clusters."""
    clusters, n = len(counts), math.fsum(counts)
    mean = math.fsum(sums) / n
    residual = math.dist(sums, [count * mean for count in counts])
    if residual <= _ROUNDING * math.hypot(*sums):
        return 0.0
    return clusters / (clusters - 1) * (residual / n) * (residual / n)


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
