"""What a target took, as the manifest tells it."""

from __future__ import annotations

import pytest

from evalsi_kernel.results.findings import cut_off_findings
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


def test_g1_replies_that_are_incomplete_are_counted() -> None:
    usage = TargetUsage()
    for finish in ("length", "max_tokens", "refusal", "content_filter", "stop", None):
        usage.add({"calls": 1, "output": "x", **({"metadata": {"finish": finish}} if finish else {})})
    usage.add({"calls": 1, "error": {"code": "target.output"}})
    assert (usage.replies, usage.truncated, usage.filtered) == (6, 2, 2)


@pytest.mark.parametrize(("truncated", "filtered", "count"), [(0, 0, 0), (2, 0, 1), (0, 1, 1), (1, 1, 2)])
def test_g1_incomplete_replies_are_notices(truncated: int, filtered: int, count: int) -> None:
    found = cut_off_findings("the target", 3, truncated, filtered, "Raise it.")
    assert [one.severity for one in found] == ["notice"] * count
    if truncated == 2:
        assert found[0].message == "2 of 3 replies of the target were cut off."
