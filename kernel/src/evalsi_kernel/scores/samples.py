"""Owns what is known of a metric's scored values, by kind: passes, numbers, labels; and which interval each kind gets.

Knows nothing of outcomes that carry no score, and nothing of runs.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from evalsi_kernel.scores.clusters import ClusterSums
from evalsi_kernel.scores.intervals import Interval, IntervalMethod, clustered_t, clustered_wilson, student_t, wilson
from evalsi_kernel.scores.moments import Moments

# One seed for every run: the same scores give the same interval.
_SEED = 0
NO_LABELS: Mapping[str, int] = MappingProxyType({})


class PassSample:
    """Pass/fail verdicts: how many there are, how many passed, and the same by cluster if asked."""

    def __init__(self, *, clustered: bool) -> None:
        self.n = 0
        self.labels = NO_LABELS
        self.clusters = ClusterSums() if clustered else None
        self._passed = 0

    def add(self, values: Sequence[bool], clusters: Sequence[str] | None) -> None:
        """Take in a chunk of verdicts, with the cluster of each where the sample is clustered."""
        _add_to_clusters(self.clusters, values, clusters)
        self.n += len(values)
        self._passed += sum(values)

    @property
    def mean(self) -> float | None:
        """The share that passed; None without verdicts."""
        return self._passed / self.n if self.n else None

    @property
    def std(self) -> float | None:
        """The sample standard deviation of the verdicts as 0 and 1; None for fewer than two."""
        if self.n < 2:
            return None
        failed = self.n - self._passed
        return math.sqrt(self._passed * failed / (self.n * (self.n - 1)))

    def interval(self, level: float, method: IntervalMethod | None) -> Interval | None:
        """Wilson's interval or its clustered form, or that of `method`; Wilson's also where that gives none."""
        usual = self._wilson(level)
        if usual is None or method is None:
            return usual
        if self.clusters is not None:
            sums, counts = self.clusters.whole_sums(), self.clusters.counts
        else:
            sums = array("d", [1.0]) * self._passed + array("d", [0.0]) * (self.n - self._passed)
            counts = array("d", [1.0]) * self.n
        found = method.interval(sums, counts, level, _SEED)
        return found or usual._replace(method=f"{usual.method} ({method.name} gives none)")

    def _wilson(self, level: float) -> Interval | None:
        if self.clusters is not None:
            return clustered_wilson(self.clusters.whole_sums(), self.clusters.counts, level)
        return wilson(self._passed, self.n, level) if self.n else None


class NumberSample:
    """Numbers: their moments, their sums by cluster if asked, and the values only where a method needs them."""

    def __init__(self, *, clustered: bool, keep_values: bool, minimum: float | None, maximum: float | None) -> None:
        self.labels = NO_LABELS
        self.clusters = ClusterSums() if clustered else None
        self._moments = Moments()
        self._values = array("d") if keep_values and not clustered else None
        self._minimum = minimum
        self._maximum = maximum

    def add(self, values: Sequence[float], clusters: Sequence[str] | None) -> None:
        """Take in a chunk of finite numbers, with the cluster of each where the sample is clustered.

        Raises:
            ValueError: a value is NaN or infinite.
        """
        self._moments.add(values)
        _add_to_clusters(self.clusters, values, clusters)
        if self._values is not None:
            self._values.extend(values)

    @property
    def n(self) -> int:
        """How many numbers there are."""
        return self._moments.n

    @property
    def mean(self) -> float | None:
        """Their mean; None without numbers."""
        return self._moments.mean

    @property
    def std(self) -> float | None:
        """Their sample standard deviation; None for fewer than two."""
        variance = self._moments.variance
        return None if variance is None else math.sqrt(variance)

    def interval(self, level: float, method: IntervalMethod | None) -> Interval | None:
        """Student's t interval or its cluster-robust form, or that of `method`; None where it is undefined.

        Raises:
            ValueError: `method` resamples records, whose values were not kept.
        """
        usual = self._student_t(level)
        # Where the values have no spread for Student's t, resampling them finds none either, or finds rounding.
        if usual is None or method is None:
            return usual
        return method.interval(*self._units(method.name), level, _SEED)

    def _student_t(self, level: float) -> Interval | None:
        mean, variance, clusters = self._moments.mean, self._moments.variance, self.clusters
        if mean is None or variance is None:
            return None
        low, high = self._minimum, self._maximum
        if clusters is not None:
            return clustered_t(clusters.sums, clusters.counts, level, minimum=low, maximum=high, origin=clusters.origin)
        return student_t(self.n, mean, variance, level, minimum=low, maximum=high)

    def _units(self, method_name: str) -> "tuple[array[float], array[float]]":
        if self.clusters is not None:
            return self.clusters.whole_sums(), self.clusters.counts
        if self._values is None:
            raise ValueError(f"The {method_name} interval needs the values; collect them with keep_values=True.")
        return self._values, array("d", [1.0]) * len(self._values)


class LabelSample:
    """Labels: how often each came, and nothing of a mean. Memory grows with the number of different labels."""

    clusters = mean = std = None

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, values: Sequence[str], _clusters: Sequence[str] | None) -> None:
        """Take in a chunk of labels."""
        self._counts.update(values)

    @property
    def n(self) -> int:
        """How many labels came."""
        return self._counts.total()

    @property
    def labels(self) -> dict[str, int]:
        """Each label with its count, the most frequent first, equal counts by name."""
        return dict(sorted(self._counts.items(), key=lambda item: (-item[1], item[0])))

    def interval(self, _level: float, _method: IntervalMethod | None) -> None:
        """None: there is no mean."""


def _add_to_clusters(sums: ClusterSums | None, values: Sequence[float], clusters: Sequence[str] | None) -> None:
    if sums is None and clusters is None:
        return
    if sums is None or clusters is None:
        raise ValueError("A clustered sample needs the cluster of every value, and only a clustered one takes them.")
    sums.add(values, clusters)
