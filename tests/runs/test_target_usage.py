"""What a target took, as the manifest tells it."""

from __future__ import annotations

import pytest

from evalsi_kernel.runs.manifest import TargetUsage


# The median of two and of six values was the lower of the middle ones, that of four the upper one.
@pytest.mark.parametrize(
    ("count", "median", "p95"), [(1, 1, 1), (2, 1, 2), (4, 2, 4), (6, 3, 6), (7, 4, 7), (20, 10, 19), (100, 50, 95)]
)
def test_the_median_and_the_95th_percentile_are_those_of_the_nearest_rank(count: int, median: int, p95: int) -> None:
    usage = TargetUsage()
    for latency_ms in range(count, 0, -1):
        usage.add({"calls": 0, "usage": {"latency_ms": float(latency_ms)}})

    assert usage.to_dict()["latency_ms"] == {"mean": (count + 1) / 2, "p50": median, "p95": p95}
