"""Owns the scale that numbers stand on, and their places on it from 0 to 1.

It must not know who gave the numbers.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from evalsi_kernel.errors import UsageError

MAX_STEPS = 100
_NUMBER = r"-?\d+(?:\.\d+)?"
_SCALE = re.compile(rf"({_NUMBER})\s*(?:-|–|to)\s*({_NUMBER})", re.ASCII)


class Scale(NamedTuple):
    """The least and the greatest number that can be given."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def holds(self, value: float) -> bool:
        """Whether a number lies on it."""
        return self.low <= value <= self.high

    def place(self, value: float) -> float:
        """Where a number stands on it, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def value(self, place: float) -> float:
        """The number at a place from 0 to 1."""
        return self.low + place * (self.high - self.low)

    @property
    def steps(self) -> tuple[int, ...] | None:
        """Its whole numbers, where it begins and ends with one and has no more than 100 steps; else None."""
        low, high = int(self.low), int(self.high)
        return tuple(range(low, high + 1)) if (low, high) == self and high - low <= MAX_STEPS else None

    def nearest_step(self, place: float) -> int:
        """The whole number that is nearest to a place from 0 to 1; of two as near the greater."""
        # Twelve digits: what two scales say of one and the same grade differs in the last of them only.
        return math.floor(round(self.value(place), 12) + 0.5)


def parse_scale(text: str) -> Scale:
    """Read a scale such as 1-5; raises `UsageError`."""
    found = _SCALE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--label-scale is {text!r}, which is no scale.", "Write its ends, such as 1-5.")
    scale = Scale(float(found[1]), float(found[2]))
    if scale.low >= scale.high:
        raise UsageError(f"--label-scale {text} ends before it begins.", "Write the least number first, such as 1-5.")
    return scale
