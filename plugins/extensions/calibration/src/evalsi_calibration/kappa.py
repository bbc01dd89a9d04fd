"""Owns Cohen's kappa, plain and weighted, with its large-sample interval.

It must not know what the categories stand for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Any, NamedTuple

from evalsi_kernel.scores.intervals import Interval
from evalsi_kernel.scores.student_t import z_critical

from .shares import interval_dict

METHOD = "fleiss-cohen-everitt"
Table = Sequence[Sequence[int]]
Weights = Sequence[Sequence[float]]

# The terms of the variance are of the size of 1 and cancel one another; less than this is their rounding.
_ROUNDING = 1e-13


class Kappa(NamedTuple):
    """Agreement beyond chance.

    Args:
        value: 1 for full agreement, 0 for as much as chance gives, below 0 for less.
        error: its large-sample standard error; 0 where the table leaves it none, as in full agreement.
    """

    value: float
    error: float

    def interval(self, level: float) -> Interval | None:
        """The interval at a confidence level between 0 and 1, cut to -1 and 1; None where it would have no width."""
        half = z_critical(level) * self.error
        if not half:
            return None
        return Interval(max(-1.0, self.value - half), min(1.0, self.value + half), level, METHOD)

    def to_dict(self, level: float) -> dict[str, Any]:
        """As JSON."""
        return {"value": self.value, "ci": interval_dict(self.interval(level)), "standard_error": self.error}


def kappa(table: Table, weights: Weights | None = None) -> Kappa | None:
    """Cohen's kappa of a square table of counts.

    Args:
        table: how often each category of the one rater (row) came with each of the other (column).
        weights: how much each cell counts as agreement, from 0 to 1, and 1 on the diagonal alone; None counts nothing
            but the diagonal.

    Returns:
        Kappa; None where it is undefined: without any count, or where chance alone makes full agreement, because both
        raters used one and the same category only.

    Source: Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960), and for weights
    Cohen, Psychol. Bulletin 70 (1968); the standard error of the estimate from Fleiss, Cohen & Everitt, Large sample
    standard errors of kappa and weighted kappa, Psychol. Bulletin 72 (1969).
    """
    n = sum(map(sum, table))
    places = range(len(table))
    used = {row for row in places if any(table[row])} | {place for row in table for place in places if row[place]}
    if len(used) < 2:
        return None
    agree = weights or [[float(row == column) for column in places] for row in places]
    shares = [[count / n for count in row] for row in table]
    of_rows = [math.fsum(row) for row in shares]
    of_columns = [math.fsum(column) for column in zip(*shares, strict=True)]
    # What each category agrees on average with whatever the other rater says.
    row_means = [_product_sum(agree[row], of_columns) for row in places]
    column_means = [_product_sum((agree[row][column] for row in places), of_rows) for column in places]
    observed = math.fsum(_product_sum(agree[row], shares[row]) for row in places)
    chance = _product_sum(row_means, of_rows)
    value = (observed - chance) / (1 - chance)
    spread = math.fsum(
        shares[row][column]
        * (agree[row][column] * (1 - chance) - (row_means[row] + column_means[column]) * (1 - observed)) ** 2
        for row in places
        for column in places
    )
    spread -= (observed * chance - 2 * chance + observed) ** 2
    error = math.sqrt(spread / n) / (1 - chance) ** 2 if spread > _ROUNDING else 0.0
    return Kappa(min(1.0, max(-1.0, value)), error)


def quadratic_weights(places: Sequence[float]) -> list[list[float]]:
    """1 less the squared distance of two categories, the greatest distance being 1.

    Args:
        places: where each category stands on its scale; at least two, all different.

    Source: Fleiss & Cohen, The equivalence of weighted kappa and the intraclass correlation coefficient as measures
    of reliability, Educ. Psychol. Meas. 33 (1973).
    """
    width = max(places) - min(places)
    return [[1 - ((one - other) / width) ** 2 for other in places] for one in places]


def _product_sum(one: Iterable[float], other: Iterable[float]) -> float:
    return math.fsum(map(mul, one, other))
