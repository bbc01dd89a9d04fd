"""Owns the bias of an evaluator that gives numbers: how far it lies above or below people, in all and per human score.

It must not know which scales the numbers come from; both are given on one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from evalsi_kernel.scores.intervals import Interval, student_t
from evalsi_kernel.scores.moments import Moments

from .shares import interval_dict


class Bias(NamedTuple):
    """The mean of what the evaluator says less what people say.

    Args:
        n: of how many records.
        mean: above 0 where the evaluator is more generous than people.
        ci: Student's t interval of it; None for fewer than two records, or where all differ by the same.
    """

    n: int
    mean: float
    ci: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"mean": self.mean, "ci": interval_dict(self.ci), "n": self.n}


def bias(pairs: Iterable[tuple[float, float]], level: float) -> Bias | None:
    """The bias over pairs of (human, judge), both from 0 to 1; None without a pair.

    Args:
        pairs: what people say, and what the evaluator says.
        level: confidence level, between 0 and 1.
    """
    moments = Moments()
    moments.add([judge - human for human, judge in pairs])
    if moments.mean is None:
        return None
    ci = None
    if moments.variance is not None:
        ci = student_t(moments.n, moments.mean, moments.variance, level, minimum=-1.0, maximum=1.0)
    return Bias(moments.n, moments.mean, ci)


def bias_per_score(pairs: Iterable[tuple[float, float]], level: float) -> dict[float, Bias]:
    """The bias among the records of each human score, the least score first; arguments as of `bias`.

    At the ends of a scale a judge that errs can only err inwards, so that a good one too lies a little above people at
    the least score and below them at the greatest.
    """
    groups: defaultdict[float, list[tuple[float, float]]] = defaultdict(list)
    for human, judge in pairs:
        groups[human].append((human, judge))
    found = {score: bias(groups[score], level) for score in sorted(groups)}
    return {score: one for score, one in found.items() if one is not None}
