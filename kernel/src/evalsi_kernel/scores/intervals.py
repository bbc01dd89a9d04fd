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


class StandardError(NamedTuple):
    """The standard error of a mean, and the degrees of freedom with which it is known."""

    error: float
    df: float


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
    """Student's t interval for the mean over all values, with the error and degrees of freedom of `clustered_error`.

    Args:
        sums: for each cluster the sum of (value - origin).
        counts: for each cluster the number of its values, above 0.
        level: confidence level, strictly between 0 and 1.
        minimum: the least value that the metric can take, if declared.
        maximum: the greatest value that the metric can take, if declared.
        origin: a number near the values, taken off each of them to keep the digits in which they differ.

    Returns:
        The interval, or None for fewer than two clusters or where all clusters have the same mean.
    """
    found = clustered_error(sums, counts)
    if found is None:
        return None
    mean = origin + math.fsum(sums) / math.fsum(counts)
    half = t_critical(level, found.df) * found.error
    return _around(mean, half, level, "clustered-t", minimum=minimum, maximum=maximum)


def clustered_error(sums: Sequence[float], counts: Sequence[float]) -> StandardError | None:
    """The cluster-robust (CR2) standard error of sum(sums) / sum(counts), and its degrees of freedom.

    Of equal clusters it is the CR1 error with C - 1 degrees of freedom. Where a few clusters hold most of the values,
    these are fewer: of 15 single records beside clusters of 5, 10, 20, 40 and 80 they are 2.7, and not 19.

    Args:
        sums: for each of the C clusters the sum of its values.
        counts: for each cluster the number of its values, above 0.

    Returns:
        The error, which is zero where only rounding separates the clusters; None for fewer than two clusters.

    Source: Bell & McCaffrey, Bias reduction in standard errors for linear regression with multi-stage samples, Survey
    Methodology 28 (2002), for a regression on a constant; recommended by Imbens & Kolesár, Robust standard errors in
    small samples: some practical advice, Review of Economics and Statistics 98 (2016).
    """
    if len(counts) < 2:
        return None
    n = math.fsum(counts)
    mean = math.fsum(sums) / n
    residuals = [total - count * mean for total, count in zip(sums, counts, strict=True)]
    # What a cluster's own weight in the mean leaves of its residual is made up for.
    shares = [count / n for count in counts]
    error = math.hypot(*(one / math.sqrt(1.0 - share) for one, share in zip(residuals, shares, strict=True))) / n
    parts = [share * share / (1.0 - share) for share in shares]
    spread = (
        math.fsum(share * share for share in shares) + math.fsum(parts) ** 2 - math.fsum(one * one for one in parts)
    )
    is_rounding = math.hypot(*residuals) <= _ROUNDING * math.hypot(*sums)
    return StandardError(0.0 if is_rounding else error, max(1.0, 1.0 / spread))


def clustered_wilson(
    passed: Sequence[float], counts: Sequence[float], level: float, *, most: float | None = None
) -> Interval | None:
    """Wilson's interval on the effective sample size, for shares whose records come in clusters.

    Where every cluster has the same share, and above all where every record passes or every record fails, the
    spread between clusters is zero and says nothing; the number of clusters is then the sample size.

    Args:
        passed: for each of the C clusters how many of its records passed.
        counts: for each cluster the number of its records, above 0.
        level: confidence level, strictly between 0 and 1.
        most: what the records count as at most; their number unless given.

    Returns:
        The interval, never of zero width, or None for fewer than two clusters.
    """
    found = clustered_error(passed, counts)
    if found is None:
        return None
    n = math.fsum(counts)
    share = min(1.0, math.fsum(passed) / n)
    if not found.error:
        return _wilson(share, len(counts), level, "clustered-wilson")
    return effective_wilson(share, found, level, most=n if most is None else most)


def effective_wilson(share: float, found: StandardError, level: float, *, most: float) -> Interval:
    """Wilson's interval on the Korn-Graubard effective sample size.

    Args:
        share: the share, or the mean of values from 0 to 1.
        found: its standard error, above 0, and the degrees of freedom of this.
        level: confidence level, strictly between 0 and 1.
        most: the effective sample size at most, above 0.

    Source: Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 24 (1998), with Wilson's interval in place of Clopper-Pearson's.
    """
    narrowing = z_critical(level) / t_critical(level, found.df)
    effective_n = min(most, share * (1 - share) * (narrowing / found.error) ** 2)
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


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
