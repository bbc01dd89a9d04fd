"""What a run adds to the manifest of an evaluation, and to its file.

It must not know how any of it came about.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from evalsi_kernel.gates.verdicts import GateResult
from evalsi_kernel.runs.generation import Usage
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.summaries import Summary


def target_usage(progress: Progress) -> dict[str, Any]:
    """What the target took, over all attempts; a count of which a part is unknown is null."""
    usage, latencies = Usage(), array("d")
    for answer in progress.all_generated():
        usage = usage.plus(answer)
        latency_ms = answer.get("usage", {}).get("latency_ms")
        if latency_ms is not None:
            latencies.append(latency_ms)
    return {**usage._asdict(), "latency_ms": _spread(latencies)}


def _spread(values: array[float]) -> dict[str, float] | None:
    if not values:
        return None
    ordered = sorted(values)
    last = len(ordered) - 1
    return {
        "mean": round(sum(ordered) / len(ordered), 3),
        "p50": ordered[round(0.50 * last)],
        "p95": ordered[round(0.95 * last)],
    }


def slices_told(slices: Mapping[tuple[str, str], list[Summary]]) -> list[dict[str, Any]]:
    """The summaries of slices as the file has them."""
    return [
        {"by": key, "value": value, "summaries": [summary.to_dict() for summary in summaries]}
        for (key, value), summaries in slices.items()
    ]


def gates_told(results: list[GateResult]) -> list[dict[str, Any]]:
    """The gates as the file has them."""
    return [result.to_dict() for result in results]
