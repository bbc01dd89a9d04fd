"""Owns the sums and counts of values by cluster: records that share a value of `--cluster-by`, or trials of one record.

Knows nothing of intervals. Memory grows with the number of clusters, not with the number of values.
"""

from array import array
from collections.abc import Sequence


class ClusterSums:
    """For each cluster the number of its values and the sum of (value - origin).

    The origin is the first value seen, so that values which differ only in their last digits, far from zero, keep them.

    Attributes:
        origin: the number taken off each value; 0.0 before the first.
        sums: one sum for each cluster, in order of first appearance.
        counts: one count for each cluster, in the same order; floats, as the interval functions take them.
    """

    __slots__ = ("_positions", "counts", "origin", "sums")

    def __init__(self) -> None:
        self.origin = 0.0
        self.sums = array("d")
        self.counts = array("d")
        self._positions: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.counts)

    def add(self, values: Sequence[float], clusters: Sequence[str]) -> None:
        """Take in a chunk of values and the cluster of each.

        Raises:
            ValueError: there is not one cluster for each value.
        """
        if len(values) != len(clusters):
            raise ValueError(f"{len(values)} values came with {len(clusters)} clusters; each value needs its own.")
        if not self._positions and values:
            self.origin = float(values[0])
        origin, positions, sums, counts = self.origin, self._positions, self.sums, self.counts
        for value, cluster in zip(values, clusters, strict=True):
            position = positions.get(cluster)
            if position is None:
                position = positions[cluster] = len(sums)
                sums.append(0.0)
                counts.append(0.0)
            sums[position] += value - origin
            counts[position] += 1.0

    def whole_sums(self) -> "array[float]":
        """The sum of each cluster's values themselves, the origin put back."""
        origin = self.origin
        return array("d", [total + origin * count for total, count in zip(self.sums, self.counts, strict=True)])
