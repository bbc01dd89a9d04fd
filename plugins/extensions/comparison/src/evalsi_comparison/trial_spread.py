"""How far the trials of a record lie apart, and the records from one another, added up in constant memory.

It must not know a metric, nor what follows from it.

Source: Cochran, Sampling Techniques, 3rd edition (1977), sections 10.3 to 10.6, sampling in two stages.
"""

from __future__ import annotations

import math

from evalsi_kernel.scores.intervals import StandardError, effective_wilson, wilson
from evalsi_kernel.scores.moments import BLOCK, Moments
from evalsi_kernel.scores.student_t import t_critical, z_critical

_ROUNDING = 1e-9


class _Buffered:
    """Moments that are fed a value at a time: so many at once cost a tenth."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._moments = Moments()

    def add(self, value: float) -> None:
        self._values.append(value)
        if len(self._values) >= BLOCK:
            self._flush()

    @property
    def mean(self) -> float:
        """0 without values."""
        self._flush()
        return self._moments.mean or 0.0

    @property
    def variance(self) -> float:
        """0 for fewer than two values."""
        self._flush()
        return self._moments.variance or 0.0

    def _flush(self) -> None:
        self._moments.add(self._values)
        self._values = []


class TrialSpread:
    """The spread of one metric.

    Attributes:
        records: that were scored at least once.
        repeated: of these, so many were scored at least twice.
        are_verdicts: whether every value is 0 or 1.
        is_beyond_floats: whether a square of them is greater than any number that can be held; no more is known then.
    """

    def __init__(self) -> None:
        self.records = 0
        self.repeated = 0
        self._record_id: str | None = None
        self._values: list[float] = []
        self._means = _Buffered()
        self._within = _Buffered()
        self._of_means = _Buffered()
        self.are_verdicts = True
        self.is_beyond_floats = False

    def add(self, record_id: str, value: float) -> None:
        """Take in a trial; those of a record follow one another."""
        if record_id != self._record_id:
            self.close()
            self._record_id = record_id
        self._values.append(value)
        self.are_verdicts = self.are_verdicts and value in (0.0, 1.0)

    def close(self) -> None:
        """Take in that no trial of the last record follows."""
        values, self._values = self._values, []
        if not values:
            return
        self.records += 1
        try:
            mean = math.fsum(values) / len(values)
            within = math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
        except OverflowError:
            self.is_beyond_floats = True
            return
        self._means.add(mean)
        if len(values) > 1:
            self.repeated += 1
            self._within.add(within)
            self._of_means.add(within / len(values))

    @property
    def within(self) -> float:
        """The variance of the trials of a record, in the mean over the records that have several."""
        return self._within.mean

    def within_limit(self, level: float, width: float | None = None) -> float:
        """What it is at most, at a level of confidence on that side alone; infinite where nothing bounds it.

        Args:
            level: between 0 and 1.
            width: of the range of the values; None where they have none. Those that pass or fail have one of 1.

        Of verdicts it is Wilson's limit: one that differs among many may be chance, and none that differs says that few
        do, and not that none will. So it is of numbers none of which differ, where they have a range. Else it is
        Student's t over the records.
        """
        one_sided = max(2 * level - 1, 0.01)
        width = 1.0 if self.are_verdicts else width
        # Of two trials the variance is no more than that; the mean of many is half of it.
        most = math.inf if width is None else width * width / 2
        if not self.are_verdicts and (self.repeated < 2 or width is None) and not (self.within and self.repeated > 1):
            return math.inf
        if not self.are_verdicts and self.within:
            spread = math.sqrt(self._within.variance / self.repeated)
            return min(most / 2, self.within + t_critical(one_sided, self.repeated - 1) * spread)
        if not self.repeated or not most:
            return most / 2
        share, variance = self.within / most, self._within.variance / (most * most)
        if variance:
            error = StandardError(math.sqrt(variance / self.repeated), self.repeated - 1)
            upper = effective_wilson(share, error, one_sided, most=self.repeated).high
        else:
            upper = wilson(share * self.repeated, self.repeated, one_sided).high
        return most * min(upper, 0.5)

    @property
    def between(self) -> float:
        """The variance of the records' own means, as no end of trials would show it."""
        of_means = self._means.variance
        between = of_means - self._of_means.mean
        # What is left of a difference of equals is rounding.
        return between if between > _ROUNDING * of_means else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of one trial of any record."""
        return math.sqrt(self.between + self.within)

    def margin_of_records(self, level: float) -> float | None:
        """What the choice of the records leaves of the mean to chance, whatever the trials; None for a single one."""
        return z_critical(level) * math.sqrt(self.between / self.records) if self.records > 1 else None
