"""Whether a mean keeps a bound, by betting on what is scored: one may look after every record.

It must not know gates, nor what a value is of.
"""

from __future__ import annotations

from typing import Final

# Shares of the largest bet. Small ones find small differences late, the largest ones find clear cases soon.
_BETS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
_ROUNDING = 1e-9


class Bound:
    """Whether the sum of a value over all records is at least 0; `least` and `most` are what one record can add.

    The value of a record is how far it lies above the bound of the gate, and 0 where it was not scored. So the mean of
    what is scored keeps the bound exactly where this sum is at least 0, however many records will not be scored.
    """

    def __init__(self, least: float, most: float, records: int | None, error_rate: float) -> None:
        self._least = least
        self._most = most
        self._left = records
        self._sum = 0.0
        self._for = _Capital(least, error_rate)
        self._against = _Capital(-most, error_rate)
        # A bound outside of the range of the metric is kept, or broken, by whatever comes.
        self.is_kept = least >= 0.0
        self.is_broken = most < 0.0

    def add(self, value: float) -> None:
        if self.is_kept or self.is_broken:
            return
        # If the whole sum were just 0, what is left would have this mean.
        mean = 0.0 if self._left is None else -self._sum / self._left
        self._for.bet(value, mean)
        self._against.bet(-value, -mean)
        self._sum += value
        if self._left is not None:
            self._left -= 1
            # Rounding must not decide what lies on the bound; that is left to the end.
            self.is_kept = self._sum + self._left * self._least > _ROUNDING
            self.is_broken = self._sum + self._left * self._most < -_ROUNDING
        self.is_kept |= self._for.is_won and not self.is_broken
        self.is_broken |= self._against.is_won and not self.is_kept


class _Capital:
    """Money won by betting that values are greater than somebody says; whoever is right loses none in the mean.

    If the mean of the values that are left is at most what is said, the capital is a supermartingale from 1, and ever
    reaches 1 / error_rate with a chance of at most error_rate (Ville's inequality): one may look at any time.

    Source: Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting, J. R. Statist. Soc. B 86
    (2024): capital processes, bets of several sizes side by side, and sampling without replacement.
    """

    def __init__(self, least: float, error_rate: float) -> None:
        self._least = least
        self._needed = len(_BETS) / error_rate
        self._capitals = [1.0] * len(_BETS)
        self.is_won = False

    def bet(self, value: float, mean: float) -> None:
        """Bet on a value before which its mean was said to be at most so much."""
        room = mean - self._least
        if room > _ROUNDING:
            # From -1, where all of the largest bet is lost.
            gain = max(-1.0, (value - mean) / room)
            self._capitals = [capital * (1.0 + bet * gain) for capital, bet in zip(self._capitals, _BETS, strict=True)]
            self.is_won = self.is_won or sum(self._capitals) >= self._needed
