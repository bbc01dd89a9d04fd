"""Owns the running mean and variance of numbers that come in chunks, in constant memory.

Knows nothing of metrics, clusters or intervals.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

BLOCK = 1024
"""Squares are added up in blocks of so many values, wherever the chunks end."""


class _Spread(NamedTuple):
    """How far `n` values lie from their mean, and what their mean is."""

    n: int = 0
    squares: float = 0.0
    origin_sum: float = 0.0  # of (value - origin)


class Moments:
    """Count, mean, variance and range of a stream of finite numbers, the same to the last bit however it is cut.

    The sum is carried without any rounding, so the mean does not depend on the order of the values. Squared deviations
    are merged block by block; a mean far from zero costs the variance no digits.

    Source of the merge: Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
    Statistician 37 (1983).
    """

    __slots__ = ("_origin", "_overflowed", "_pending", "_spread", "_sum_parts", "high", "low", "n")

    def __init__(self) -> None:
        self.n = 0
        self.low = math.inf
        self.high = -math.inf
        self._sum_parts: list[float] = []  # they add up to the sum exactly; two or three of them in practice
        self._origin = 0.0
        self._spread = _Spread()
        self._pending: list[float] = []  # less than a block
        self._overflowed = False

    def add(self, values: Sequence[float]) -> None:
        """Take in a chunk of values.

        Raises:
            ValueError: a value is NaN or infinite; nothing of the chunk is taken in.
        """
        if not values:
            return
        if not all(map(math.isfinite, values)):
            raise ValueError("A value is NaN or infinite; report it as an error of its record, not as a number.")
        if not self.n:
            self._origin = values[0]
        if not self._overflowed:
            try:
                self._add_squares(values)
                self._sum_parts = _exact_parts([*self._sum_parts, *values])
            except OverflowError:
                # Values near the largest float still count; their mean is then unknown rather than wrong.
                self._overflowed = True
        self.n += len(values)
        self.low = min(self.low, *values)
        self.high = max(self.high, *values)

    @property
    def mean(self) -> float | None:
        """The mean; None without values, or where their sum went beyond the largest float."""
        if not self.n or self._overflowed:
            return None
        # Rounded once, at the end: 0.1, 0.2 and 0.3 have a mean of 0.2, which their rounded sum has not.
        ratios = [part.as_integer_ratio() for part in self._sum_parts]
        whole = max((denominator for _, denominator in ratios), default=1)
        return sum(numerator * (whole // denominator) for numerator, denominator in ratios) / (whole * self.n)

    @property
    def variance(self) -> float | None:
        """The sample variance (divisor n - 1), zero if all values are equal; None for n < 2 or beyond floats."""
        if self.n < 2 or self._overflowed:
            return None
        if self.low == self.high:
            return 0.0
        try:
            variance = _merged(self._spread, self._pending, self._origin).squares / (self.n - 1)
        except OverflowError:
            return None
        return variance if math.isfinite(variance) else None

    def _add_squares(self, values: Sequence[float]) -> None:
        pending = self._pending
        pending += values
        whole = len(pending) - len(pending) % BLOCK
        for start in range(0, whole, BLOCK):
            self._spread = _merged(self._spread, pending[start : start + BLOCK], self._origin)
        del pending[:whole]


def _merged(spread: _Spread, values: Sequence[float], origin: float) -> _Spread:
    count = len(values)
    if not count:
        return spread
    origin_sum = math.fsum([*values, *[-origin] * count])
    deviation = math.dist(values, [origin + origin_sum / count] * count)
    squares = spread.squares + deviation * deviation
    if spread.n:
        # The difference of two means, taken from the origin: the means themselves may agree in all their digits.
        shift = origin_sum / count - spread.origin_sum / spread.n
        squares += shift * shift * (spread.n * count / (spread.n + count))
    return _Spread(spread.n + count, squares, spread.origin_sum + origin_sum)


def _exact_parts(values: list[float]) -> list[float]:
    """A few floats whose exact sum is that of `values`: the rounded sum, what that rounding left over, and so on."""
    parts: list[float] = []
    while left_over := math.fsum([*values, *(-part for part in parts)]):
        parts.append(left_over)
    return parts
