"""Owns Spearman's rank correlation.

It must not know what is ranked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rho of two columns of the same length, from -1 to 1; equal values share the mean of their ranks.

    Returns:
        Pearson's correlation of the ranks; None where a column has fewer than two different values, so that there is
        no order to compare.

    Source: Spearman, The proof and measurement of association between two things, Am. J. Psychol. 15 (1904), with
    ties as in Kendall, Rank Correlation Methods (1948), chapter 3.
    """
    return pearson(ranks(one), ranks(other))


def pearson(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's correlation of two columns of the same length; None where a column does not vary.

    Of a column of two values and one of numbers it is the point-biserial correlation.
    """
    n = len(one)
    if n < 2 or min(one) == max(one) or min(other) == max(other):
        return None
    mean_one, mean_other = math.fsum(one) / n, math.fsum(other) / n
    from_one = [value - mean_one for value in one]
    from_other = [value - mean_other for value in other]
    together = math.fsum(a * b for a, b in zip(from_one, from_other, strict=True))
    correlation = together / (math.hypot(*from_one) * math.hypot(*from_other))
    return min(1.0, max(-1.0, correlation))


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1 on, the least first; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranked = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranked[place] = (start + 1 + end) / 2
        start = end
    return ranked
