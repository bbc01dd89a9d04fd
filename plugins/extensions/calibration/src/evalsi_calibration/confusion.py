"""Owns the confusion matrix of two raters, and the rates that it holds where the categories are pass and fail.

It must not know where the ratings come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .shares import Share


class Confusion(NamedTuple):
    """How often each category of the one came with each of the other.

    Args:
        categories: in the order of rows and columns.
        counts: a row for what people say, in it a column for what the evaluator says.
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """How many were rated."""
        return sum(map(sum, self.counts))

    @property
    def agreement(self) -> Share:
        """How many both put in the same category."""
        return Share(sum(row[place] for place, row in enumerate(self.counts)), self.n)


class PassRates(NamedTuple):
    """What a matrix of pass and fail says of the evaluator; people are taken to be right.

    Args:
        precision: of what the evaluator passes, people pass.
        recall: of what people pass, the evaluator passes.
        false_positives: of what people fail, the evaluator passes.
        false_negatives: of what people pass, the evaluator fails.
        human_pass: what people pass, of all.
        judge_pass: what the evaluator passes, of all.
    """

    precision: Share
    recall: Share
    false_positives: Share
    false_negatives: Share
    human_pass: Share
    judge_pass: Share


def confusion(ratings: Iterable[tuple[str, str]], categories: Sequence[str]) -> Confusion:
    """Count pairs of what people say and what the evaluator says; every one must be among the categories."""
    counted = Counter(ratings)
    counts = tuple(tuple(counted[human, judge] for judge in categories) for human in categories)
    return Confusion(tuple(categories), counts)


def pass_rates(matrix: Confusion) -> PassRates:
    """The rates of a matrix whose categories are pass and fail, in this order."""
    (both, missed), (let_through, neither) = matrix.counts
    return PassRates(
        precision=Share(both, both + let_through),
        recall=Share(both, both + missed),
        false_positives=Share(let_through, let_through + neither),
        false_negatives=Share(missed, both + missed),
        human_pass=Share(both + missed, matrix.n),
        judge_pass=Share(both + let_through, matrix.n),
    )
