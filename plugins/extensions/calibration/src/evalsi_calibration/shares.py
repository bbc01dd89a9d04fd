"""Owns the share: so many of so many, with Wilson's interval.

It must not know what is counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from evalsi_kernel.scores.intervals import Interval, wilson


class Share(NamedTuple):
    """So many of so many.

    Args:
        part: how many, from 0 to `whole`.
        whole: of how many.
    """

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """From 0 to 1; None of nothing."""
        return self.part / self.whole if self.whole else None

    def interval(self, level: float) -> Interval | None:
        """Wilson's interval at a confidence level between 0 and 1; None of nothing."""
        return wilson(self.part, self.whole, level) if self.whole else None

    def to_dict(self, level: float) -> dict[str, Any]:
        """As JSON; value and interval are null of nothing."""
        return {"value": self.value, "ci": interval_dict(self.interval(level)), "part": self.part, "whole": self.whole}


def interval_dict(interval: Interval | None) -> dict[str, Any] | None:
    """An interval as results.json has it."""
    if interval is None:
        return None
    return {"low": interval.low, "high": interval.high, "level": interval.level, "method": interval.method}
