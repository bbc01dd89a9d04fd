"""Owns the interval for the difference of two shares that were measured on the same records.

It must not know which records these are, nor a test.
"""

from __future__ import annotations

import math

from evalsi_kernel.scores.intervals import Interval
from evalsi_kernel.scores.student_t import z_critical

_HALVINGS = 60


def score_interval(lost: float, won: float, n: float, level: float) -> Interval:
    """Tango's score interval for (won - lost) / n; never of zero width.

    Args:
        lost: how many of the pairs passed first and then failed; a fraction where pairs are means of several.
        won: how many failed first and then passed.
        n: how many pairs there are, above 0 and at least `lost` + `won`.
        level: confidence level, strictly between 0 and 1.

    Raises:
        ValueError: the counts do not go together.

    Source: Tango, Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design, Statistics in Medicine 17 (1998); recommended by Fagerland, Lydersen & Laake, Recommended tests and
    confidence intervals for paired binomial proportions, Statistics in Medicine 33 (2014).
    """
    if not (n > 0 and min(lost, won) >= 0 and lost + won <= n * (1 + 1e-12)):
        raise ValueError(f"{lost!r} lost and {won!r} won pairs cannot be among {n!r}.")
    z = z_critical(level)
    # The statistic falls as the assumed difference grows, and is 0 at the observed one.
    low = -_bound(won, lost, n, z)
    high = _bound(lost, won, n, z)
    return Interval(low, high, level, "tango")


def _bound(lost: float, won: float, n: float, z: float) -> float:
    """The largest difference that the score test does not refuse."""
    inside, outside = (won - lost) / n, 1.0
    if _statistic(lost, won, n, outside) > -z:
        return outside
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if _statistic(lost, won, n, middle) > -z:
            inside = middle
        else:
            outside = middle
    return outside


def _statistic(lost: float, won: float, n: float, difference: float) -> float:
    """The score statistic, with the share of lost pairs at its likeliest under the assumed difference."""
    excess = won - lost - n * difference
    b = -won - lost + (2 * n - won + lost) * difference
    c = -lost * difference * (1 - difference)
    share_lost = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
    variance = n * (2 * share_lost + difference * (1 - difference))
    if variance <= 0:
        return 0.0 if excess == 0 else math.copysign(math.inf, excess)
    return excess / math.sqrt(variance)
