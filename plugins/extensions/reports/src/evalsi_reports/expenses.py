"""Owns what a run took: calls, tokens, money and time, of the target and of its judges, as label and text.

It must not know where it is shown. What nobody knows is called unknown, never nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .figures import milliseconds, percentile, run_time, usd
from .folding import Folded
from .shown_text import one_line
from .values import count, known_count, number


class Fact(NamedTuple):
    """One line: of whom, what, and how much."""

    of: str
    label: str
    text: str


def expenses(folded: Folded) -> list[Fact]:
    """Everything that is known."""
    manifest = folded.head.manifest
    facts = list(_target(folded))
    judge = manifest.get("judge")
    if isinstance(judge, dict):
        facts += _judge(judge)
    facts += _bills(folded)
    facts += _times(folded)
    if duration := run_time(manifest):
        facts.append(Fact("Run", "time", duration))
    return facts


def total_usd(folded: Folded) -> str | None:
    """What target and judges cost together; None where neither tells of any cost."""
    manifest = folded.head.manifest
    used, judge = manifest.get("target_usage"), manifest.get("judge")
    bills = [bill for bill in (used, judge) if isinstance(bill, dict) and (bill.get("calls") or bill.get("cost_usd"))]
    if not bills:
        costs = folded.usage.get("cost_usd")
        return usd(sum(costs.known())) if costs is not None else None
    known = [cost for bill in bills if (cost := number(bill.get("cost_usd"))) is not None]
    is_partial = len(known) < len(bills) or any(bill.get("unknown") for bill in bills)
    return usd(sum(known) if known else None, int(is_partial))


def _target(folded: Folded) -> Iterator[Fact]:
    used = folded.head.manifest.get("target_usage")
    if isinstance(used, dict):
        yield from _counts("Target", used, ("calls", "failed", "by_fallbacks"))
        yield from _tokens("Target", used)
        yield Fact("Target", "cost", usd(used.get("cost_usd"), used.get("unknown") or 0))
        latency = used.get("latency_ms")
        if isinstance(latency, dict):
            for name in ("mean", "p50", "p95"):
                if number(latency.get(name)) is not None:
                    yield Fact("Target", f"latency, {_QUANTILES[name]}", milliseconds(latency[name]))
        return
    for name, label in (("input_tokens", "input tokens"), ("output_tokens", "output tokens")):
        if name in folded.usage:
            yield Fact("Target", label, f"{sum(folded.usage[name].known()):,.0f}")
    if "cost_usd" in folded.usage:
        yield Fact("Target", "cost", usd(sum(folded.usage["cost_usd"].known())))
    if "latency_ms" in folded.usage:
        known = sorted(folded.usage["latency_ms"].known())
        yield Fact("Target", "latency, mean", milliseconds(sum(known) / len(known)))
        yield Fact("Target", "latency, median", milliseconds(percentile(known, 0.5)))
        yield Fact("Target", "latency, 95th percentile", milliseconds(percentile(known, 0.95)))


_LABELS = {"by_fallbacks": "answered by fallbacks"}
_QUANTILES = {"mean": "mean", "p50": "median", "p95": "95th percentile"}


def _judge(judge: Mapping[str, Any]) -> Iterator[Fact]:
    yield from _counts("Judge", judge, ("asks", "calls", "cached", "failed"))
    yield from _tokens("Judge", judge)
    yield Fact("Judge", "cost", usd(judge.get("cost_usd"), judge.get("unknown") or 0))


def _bills(folded: Folded) -> Iterator[Fact]:
    """What each evaluator asked; one with several metrics was paid for once."""
    bills = {
        str(one.get("evaluator")): one["judge"] for one in folded.head.summaries if isinstance(one.get("judge"), dict)
    }
    for evaluator, bill in bills.items() if len(bills) > 1 else ():
        calls = f"{count(bill['calls']):,} calls, " if "calls" in bill else ""
        cost = usd(bill.get("cost_usd"), bill.get("unknown") or 0)
        yield Fact(
            "Judge, by evaluator", one_line(evaluator, 60), f"{calls}{'cost ' if cost == 'unknown' else ''}{cost}"
        )


def _times(folded: Folded) -> Iterator[Fact]:
    """How long evaluators took that wait, as for a judge."""
    for evaluator, times in folded.times_ms.items():
        known = sorted(times.known())
        usual, most, slowest = percentile(known, 0.5), percentile(known, 0.95), known[-1]
        told = f"median {milliseconds(usual)}, 95th percentile {milliseconds(most)}, slowest {milliseconds(slowest)}"
        yield Fact("Time a record", one_line(evaluator, 60), told)


def _counts(of: str, used: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Fact]:
    for name in names:
        if (times := known_count(used.get(name))) is not None:
            yield Fact(of, _LABELS.get(name, name), f"{times:,}")


def _tokens(of: str, used: Mapping[str, Any]) -> Iterator[Fact]:
    for name in ("input_tokens", "output_tokens"):
        value = known_count(used.get(name))
        yield Fact(of, name.replace("_", " "), "unknown" if value is None else f"{value:,}")
