"""Owns `--fail-on-regression`: what to watch, and which metrics are worse, or cannot be told.

It must not know how a difference is tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import UsageError

from .difference import Difference
from .error_share import Errors, errors_told, p_told

MIN_SHARE = 0.5
"""Where fewer of the base's scores are in pairs, the pairs say little of the data."""

_ROUNDING = 1e-12

Verdict = Literal["fine", "regressed", "undecided", "not judged"]


class Watched(NamedTuple):
    """A metric to watch: it fails when it is significantly worse; with `max_drop`, when it is worse by more."""

    metric: str
    max_drop: float | None = None


class Judged(NamedTuple):
    """What is found of a watched metric; `reason` is a clause without a full stop."""

    metric: str
    verdict: Verdict
    reason: str

    @property
    def fails(self) -> bool:
        """Whether it ends the command with exit code 3."""
        return self.verdict in ("regressed", "undecided")


def parse_watched(words: Sequence[str]) -> list[Watched]:
    """Read `metric` and `metric:max_drop`; raises `UsageError`."""
    return [_parse(word) for word in words]


def _parse(word: str) -> Watched:
    # A metric's name may hold colons, and what follows the last one need not be a number.
    name, colon, number = word.rpartition(":")
    try:
        max_drop = float(number) if colon else None
    except ValueError:
        return Watched(word)
    if max_drop is None:
        return Watched(word)
    if not name or not (0 <= max_drop < math.inf):
        raise UsageError(
            f"--fail-on-regression is {word!r}, and a drop is a number from 0 on.", "Write it as exact-match:0.02."
        )
    return Watched(name, max_drop)


def require_metrics(flag: str, names: Iterable[str], common: Sequence[str], lone: dict[str, str]) -> None:
    """See that both runs have the metrics of a flag; raises `UsageError` with the nearest name.

    Args:
        flag: that names them.
        names: the metrics.
        common: those that both runs have.
        lone: those that only one run has, each with the name of that run's file.
    """
    for name in names:
        if name in common:
            continue
        if name in lone:
            raise UsageError(f"{flag} names {name!r}, which only {lone[name]} has.", "Name one that both runs have.")
        raise UsageError(f"{flag} names {name!r}, which neither run has.", choose(name, common))


def judge_all(differences: Sequence[Difference], watched: Sequence[Watched], alpha: float) -> list[Judged]:
    """Judge what is watched.

    Args:
        differences: of the metrics that were compared.
        watched: what to watch; without any, all that were compared.
        alpha: what adjusted p-values are held to.
    """
    by_name = {one.metric: one for one in differences}
    wanted = watched or [Watched(one.metric) for one in differences]
    return [_judge(by_name[one.metric], one, alpha) for one in wanted]


def judge_errors(found: Errors, alpha: float) -> list[Judged]:
    """The judgement on the errors of the watched metrics' evaluators: one where there are significantly more, or none.

    A record that fails leaves the pairs of its metric, so that no metric could tell.
    """
    return [Judged("errors", "regressed", errors_told(found))] if found.direction(alpha) == "worse" else []


def _judge(found: Difference, watched: Watched, alpha: float) -> Judged:
    name, worse = found.metric, found.worse_by()
    if found.not_comparable:
        return Judged(name, "not judged", f"not comparable: {found.not_comparable}")
    if found.kind == "label" or found.higher_is_better is None:
        why = "it gives labels" if found.kind == "label" else "it does not say whether higher is better"
        return Judged(name, "not judged", why)
    scored = found.pairs + found.left_base.unmatched
    if worse is None:
        if not scored and not found.left_candidate.unmatched:
            return Judged(name, "undecided", "neither run scored a record")
        why = "its values are too large to be compared" if found.is_too_large else "no record was scored in both runs"
        return Judged(name, "undecided", why)
    if found.pairs < MIN_SHARE * scored:
        return Judged(name, "undecided", f"only {found.pairs:,} of {scored:,} scores of the base have a pair")
    if watched.max_drop is not None:
        return _with_max_drop(found, watched.max_drop, worse, alpha)
    if worse > 0 and found.significant(alpha):
        return Judged(name, "regressed", f"worse by {worse:.4g}, {p_told(found.p_holm)}")
    return Judged(name, "fine", "not significantly worse")


def _with_max_drop(found: Difference, max_drop: float, worse: float, alpha: float) -> Judged:
    # 0.92 - 0.9 is not more than 0.02, though in floats it is.
    if worse <= max_drop + _ROUNDING * max(1.0, abs(found.base or 0.0)):
        return Judged(found.metric, "fine", f"worse by {max(0.0, worse):.4g} at most {max_drop:g}")
    if found.ci is None:
        how = "too few records for an interval" if found.p_holm is None else p_told(found.p_holm)
    else:
        how = f"{p_told(found.p_holm)}, interval [{found.ci.low:.4g}, {found.ci.high:.4g}]"
    verdict: Verdict = "regressed" if found.significant(alpha) else "fine"
    return Judged(found.metric, verdict, f"worse by {worse:.4g}, more than {max_drop:g}; {how}")
