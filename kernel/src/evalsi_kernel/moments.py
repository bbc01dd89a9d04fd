"""Owns the running mean and variance of numbers that come in chunks, in constant memory.

Knows nothing of metrics, clusters or intervals.
"""

import math
from collections.abc import Sequence


class Moments:
    """Count, mean, variance and range of a stream of finite numbers.

    The sum is carried in two floats (the rounded sum and what rounding left over), so the mean does not depend on the
    order in which chunks arrive; squared deviations are merged pairwise and keep their digits at any offset.

    Source of the merge: Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
    Statistician 37 (1983).
    """

    __slots__ = ("_left_over", "_overflowed", "_squares", "_sum", "high", "low", "n")

    def __init__(self) -> None:
        self.n = 0
        self.low = math.inf
        self.high = -math.inf
        self._sum = 0.0
        self._left_over = 0.0
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
            self._add_sums(values)
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
        return min(max(self._sum / self.n, self.low), self.high) + 0.0

    @property
    def variance(self) -> float | None:
        """The sample variance (divisor n - 1), zero if all values are equal; None for n < 2 or beyond floats."""
        if self.n < 2 or self._overflowed:
            return None
        if self.low == self.high:
            return 0.0
        variance = self._squares / (self.n - 1)
        return variance if math.isfinite(variance) else None

    def _add_sums(self, values: Sequence[float]) -> None:
        count = len(values)
        chunk_sum = math.fsum(values)
        chunk_mean = chunk_sum / count
        deviation = math.dist(values, [chunk_mean] * count)
        shift = chunk_mean - self._sum / self.n if self.n else 0.0
        parts = (self._sum, self._left_over, chunk_sum, math.fsum([*values, -chunk_sum]))
        self._sum = math.fsum(parts)
        self._left_over = math.fsum([*parts, -self._sum])
        self._squares += deviation * deviation + shift * shift * (self.n * count / (self.n + count))
