"""Owns the running mean and variance of numbers that come in chunks, in constant memory.

Knows nothing of metrics, clusters or intervals.
"""

import math
from collections.abc import Sequence


class Moments:
    """Count, mean, variance and range of a stream of finite numbers.

    The sum is carried without any rounding, so the mean does not depend on the order in which chunks arrive. Squared
    deviations are merged chunk by chunk; a mean far from zero costs the variance no digits.

    Source of the merge: Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
    Statistician 37 (1983).
    """

    __slots__ = ("_origin", "_origin_sum", "_overflowed", "_squares", "_sum_parts", "high", "low", "n")

    def __init__(self) -> None:
        self.n = 0
        self.low = math.inf
        self.high = -math.inf
        self._sum_parts: list[float] = []  # they add up to the sum exactly; two or three of them in practice
        self._origin = 0.0
        self._origin_sum = 0.0  # of (value - origin)
        self._squares = 0.0
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
        # Rounding may carry the quotient past the range of the values by one digit; -0.0 becomes 0.0.
        return min(max(math.fsum(self._sum_parts) / self.n, self.low), self.high) + 0.0

    @property
    def variance(self) -> float | None:
        """The sample variance (divisor n - 1), zero if all values are equal; None for n < 2 or beyond floats."""
        if self.n < 2 or self._overflowed:
            return None
        if self.low == self.high:
            return 0.0
        variance = self._squares / (self.n - 1)
        return variance if math.isfinite(variance) else None

    def _add_squares(self, values: Sequence[float]) -> None:
        count = len(values)
        if not self.n:
            self._origin = values[0]
        origin_sum = math.fsum([*values, *[-self._origin] * count])
        deviation = math.dist(values, [self._origin + origin_sum / count] * count)
        self._squares += deviation * deviation
        if self.n:
            # The difference of two means, taken from the origin: the means themselves may agree in all their digits.
            shift = origin_sum / count - self._origin_sum / self.n
            self._squares += shift * shift * (self.n * count / (self.n + count))
        self._origin_sum += origin_sum


def _exact_parts(values: list[float]) -> list[float]:
    """A few floats whose exact sum is that of `values`: the rounded sum, what that rounding left over, and so on."""
    parts: list[float] = []
    while left_over := math.fsum([*values, *(-part for part in parts)]):
        parts.append(left_over)
    return parts
