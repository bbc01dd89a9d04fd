"""What a run adds to the manifest of an evaluation, and to its file."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from evalsi_kernel.scores.summaries import Summary

_NOTHING: Mapping[str, Any] = MappingProxyType({})


ReplyEnd = Literal["truncated", "filtered"]
_TRUNCATED: Final = frozenset(
    {"incomplete", "length", "max_length", "max_output_tokens", "max_tokens", "model_context_window_exceeded"}
)
_FILTERED: Final = frozenset(
    {
        *("blocklist", "content_filter", "content_filtered", "error_toxic", "guardrail_intervened"),
        *("prohibited_content", "recitation", "refusal", "safety", "spii"),
    }
)
"""How services say in lower case why a reply ended; connectors say `length` and `refusal`."""


def reply_end(answer: Mapping[str, Any]) -> ReplyEnd | None:
    """Return in which way a reply of the target is incomplete; None for a whole one and for a failure."""
    finish = (answer.get("metadata") or _NOTHING).get("finish")
    if "error" in answer or not isinstance(finish, str):
        return None
    if finish.lower() in _TRUNCATED:
        return "truncated"
    return "filtered" if finish.lower() in _FILTERED else None


class TargetUsage:
    """What the target took, over all attempts; a count of which a part is unknown is unknown.

    Attributes:
        replies: those that brought an output.
        truncated: those that were cut off at the most tokens that they might take.
        filtered: those that the model or a content filter refused.
    """

    def __init__(self) -> None:
        self.replies = self.truncated = self.filtered = 0
        self._calls = self._failed = self._by_fallbacks = 0
        self._known: dict[str, float] = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
        self._unknown: set[str] = set()
        self._latencies_ms = array("d")

    def add(self, answer: Mapping[str, Any]) -> None:
        """Take in an answer, or a failure."""
        usage, known = answer.get("usage", _NOTHING), self._known
        self._failed += "error" in answer
        # A check of whether the target serves has no output: its reply is not kept.
        self.replies += "output" in answer
        end = reply_end(answer)
        self.truncated += end == "truncated"
        self.filtered += end == "filtered"
        self._by_fallbacks += "fallback" in answer
        latency_ms = usage.get("latency_ms")
        if latency_ms is not None:
            self._latencies_ms.append(latency_ms)
        if not answer["calls"]:
            return
        self._calls += answer["calls"]
        for name in known:
            count = usage.get(name)
            if count is None:
                self._unknown.add(name)
            else:
                known[name] += count

    def spent(self) -> tuple[int, float]:
        """The known part for a budget, in tokens and USD."""
        known = self._known
        return int(known["input_tokens"] + known["output_tokens"]), known["cost_usd"]

    def to_dict(self) -> dict[str, Any]:
        """As the manifest has it."""
        counts = {"calls": self._calls, "failed": self._failed}
        counts |= {"replies": self.replies, "truncated": self.truncated, "filtered": self.filtered}
        if self._by_fallbacks:
            counts["by_fallbacks"] = self._by_fallbacks
        took = {name: None if name in self._unknown else count for name, count in self._known.items()}
        return {**counts, **took, "latency_ms": _spread(self._latencies_ms)}


def _spread(values: array[float]) -> dict[str, float] | None:
    if not values:
        return None
    ordered, n = sorted(values), len(values)
    # The nearest rank, as in a report.
    return {"mean": round(sum(ordered) / n, 3), "p50": ordered[(n - 1) // 2], "p95": ordered[(19 * n - 1) // 20]}


def slices_told(slices: Mapping[tuple[str, str], list[Summary]]) -> list[dict[str, Any]]:
    """The summaries of slices as the file has them."""
    return [
        {"by": key, "value": value, "summaries": [summary.to_dict() for summary in summaries]}
        for (key, value), summaries in slices.items()
    ]
