"""The number that a gate looks at, the range in which it may end while records are unfinished, and its bounds.

It must not know why records are unfinished, nor what a gate says of errors.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from evalsi_kernel.gates.shares import error_rate_of, skip_rate_of
from evalsi_kernel.scores.summaries import Summary

STAT_WORDS = {
    "mean": "mean",
    "lower": "lower end of the interval",
    "upper": "upper end of the interval",
    "n": "number of scored {noun}",
    "errors": "number of errors",
    "skipped": "number of skipped {noun}",
    "truncated": "number of replies that were cut off",
    "filtered": "number of replies that were refused or stopped by a content filter",
    "error_rate": "error rate",
    "skip_rate": "skip rate",
}
OF_THE_MEAN = ("mean", "lower", "upper")
OF_REPLIES = ("truncated", "filtered")


class Reach(NamedTuple):
    """The least and the most that a number may be once every record is done; both the same where all are."""

    low: float
    high: float


def value_of(stat: str, summary: Summary) -> float | None:
    """The number that a gate looks at; None where it is undefined."""
    if stat == "mean":
        return summary.mean
    if stat in ("lower", "upper"):
        if summary.ci is None:
            return None
        return summary.ci.low if stat == "lower" else summary.ci.high
    if stat == "error_rate":
        return error_rate_of(summary.n, summary.errors)
    if stat == "skip_rate":
        return skip_rate_of(summary.n, summary.errors, summary.skipped)
    count: int | None = getattr(summary, stat)
    return None if count is None else float(count)


def reach_of(stat: str, summary: Summary, unknown: int, values: tuple[float, float] | None) -> Reach | None:
    """Where a number may end when so many outcomes are still unknown.

    Args:
        stat: of the gate.
        summary: of what is known.
        unknown: outcomes that could be anything; each may yet be scored, an error or skipped.
        values: the declared range of the metric, None where it has none.

    Returns:
        The range, or None where it could end anywhere or is undefined.
    """
    value = value_of(stat, summary)
    if value is None:
        return None
    if not unknown:
        return Reach(value, value)
    if stat == "mean":
        if values is None:
            return None
        n = summary.n + unknown
        return Reach(*((value * summary.n + one * unknown) / n for one in values))
    if stat in ("n", "errors", "skipped", *OF_REPLIES):
        return Reach(value, value + unknown)
    if stat == "error_rate":
        n, errors = summary.n, summary.errors
        return Reach(error_rate_of(n + unknown, errors), error_rate_of(n, errors + unknown))
    if stat == "skip_rate":
        n, errors, skipped = summary.n, summary.errors, summary.skipped
        return Reach(skip_rate_of(n + unknown, errors, skipped), skip_rate_of(n, errors, skipped + unknown))
    return None


def held(reach: Reach, least: float | None, most: float | None) -> Literal["pass", "fail"] | None:
    """Whether a number keeps its bounds wherever it ends; None where that is open."""
    # What meets a bound but for the rounding of a mean keeps it.
    least = -math.inf if least is None else least - rounding(least)
    most = math.inf if most is None else most + rounding(most)
    if reach.high < least or reach.low > most:
        return "fail"
    return "pass" if least <= reach.low and reach.high <= most else None


def rounding(bound: float) -> float:
    """By how much a mean may miss a bound, or another mean, through the rounding of floats alone."""
    return 1e-12 * max(1.0, abs(bound))


def asked(least: float | None, most: float | None) -> str:
    """The bounds as the end of a sentence."""
    if least is not None and most is not None:
        return f"must be from {least:.6g} to {most:.6g}"
    return f"must be at least {least:.6g}" if least is not None else f"must be at most {most:.6g}"


def told(value: float, *bounds: float | None) -> str:
    """A number in few digits, and in more where it would read like a bound that it is not."""
    for digits in (4, 6, 9):
        text = f"{value:.{digits}g}"
        if all(bound is None or abs(value - bound) <= rounding(bound) or float(text) != bound for bound in bounds):
            return text
    return repr(value)
