"""Owns the length bias of a judge that compares two outputs: whether it is for the longer one, more than people are.

It must not know where texts and verdicts come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .rank_correlation import pearson
from .shares import Share

WIN, LOSS = "win", "loss"


class Compared(NamedTuple):
    """Two outputs that were compared.

    Args:
        longer_by: characters of the output less those of the other one.
        human: win, tie or loss of the output, as people say.
        judge: likewise, as the evaluator says.
    """

    longer_by: int
    human: str
    judge: str


class Leaning(NamedTuple):
    """How verdicts go with length.

    Args:
        for_longer: the verdicts for the longer output, of those that are for one of two that differ in length.
        correlation: point-biserial, of the difference in length and win (1) or loss (0); None where either is all one.
    """

    for_longer: Share
    correlation: float | None

    def to_dict(self, level: float) -> dict[str, Any]:
        """As JSON."""
        return {"for_longer": self.for_longer.to_dict(level), "correlation": self.correlation}


class LengthBias(NamedTuple):
    """How the evaluator leans, and how people do: what people prefer for its substance may be longer too."""

    judge: Leaning
    human: Leaning

    def to_dict(self, level: float) -> dict[str, Any]:
        """As JSON."""
        return {"judge": self.judge.to_dict(level), "human": self.human.to_dict(level)}


def length_bias(compared: Sequence[Compared]) -> LengthBias | None:
    """The length bias; None where no two outputs differ in length."""
    uneven = [one for one in compared if one.longer_by]
    if not uneven:
        return None
    return LengthBias(
        leaning([(one.longer_by, one.judge) for one in uneven]), leaning([(one.longer_by, one.human) for one in uneven])
    )


def leaning(verdicts: Sequence[tuple[int, str]]) -> Leaning:
    """How verdicts (win, tie or loss of the output) go with how much longer it is; ties are left out.

    Source of the correlation: Tate, Correlation between a discrete and a continuous variable, Ann. Math. Stat. 25
    (1954).
    """
    decided = [(longer_by, verdict == WIN) for longer_by, verdict in verdicts if verdict in (WIN, LOSS)]
    for_longer = sum(is_win == (longer_by > 0) for longer_by, is_win in decided)
    correlation = pearson([float(longer_by) for longer_by, _ in decided], [float(is_win) for _, is_win in decided])
    return Leaning(Share(for_longer, len(decided)), correlation)
