"""Owns a gate as a report shows it: what it asks for, in words, and what came of it.

It must not know how a gate is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .figures import counted, figure
from .shown_text import one_line
from .values import count, number

_STATS = {
    "mean": "mean",
    "lower": "lower end",
    "upper": "upper end",
    "n": "scored records",
    "errors": "errors",
    "skipped": "skipped records",
    "truncated": "replies cut off",
    "filtered": "replies refused or filtered",
    "error_rate": "share of errors",
    "skip_rate": "share of skips",
}
GATE_WORDS = {"fail": "failed", "undecided": "undecided", "pass": "passed", "not applicable": "not applicable"}
_COUNTS = {"n", "errors", "skipped", "truncated", "filtered"}
_OF_THE_MEAN = {"mean", "lower", "upper"}
VERDICTS = ("fail", "undecided", "pass", "not applicable")


class Gate(NamedTuple):
    """One gate.

    Args:
        metric, slice: what it looks at; `slice` is "" where it looks at all records.
        asks: what must hold, such as "mean ≥ 0.8".
        verdict: pass, fail, undecided or not applicable.
        value, low, high, least, most: numbers, None where there is none.
        n, errors, skipped: the records behind it.
        reason: a sentence.
    """

    metric: str
    slice: str
    stat: str
    asks: str
    verdict: str
    value: float | None
    low: float | None
    high: float | None
    least: float | None
    most: float | None
    n: int
    errors: int
    skipped: int
    reason: str

    @property
    def name(self) -> str:
        """The gate in one line."""
        where = f" where {self.slice}" if self.slice else ""
        return f"{self.metric}: {self.asks}{where}"

    @property
    def shown(self) -> str:
        """Its number, as people write it."""
        if self.value is not None and self.stat in _COUNTS:
            return f"{self.value:,.0f}"
        return figure(self.value)


def gates_of(entries: Sequence[Mapping[str, Any]]) -> list[Gate]:
    """The gates, those that did not pass first."""
    gates = [_gate(entry) for entry in entries]
    return sorted(gates, key=lambda gate: VERDICTS.index(gate.verdict))


def gates_sentence(gates: Sequence[Gate]) -> str:
    """How many of them passed."""
    counts = {verdict: sum(gate.verdict == verdict for gate in gates) for verdict in VERDICTS}
    total = counted(len(gates), "gate")
    if counts["pass"] == len(gates):
        return {1: "the gate passed", 2: "both gates passed"}.get(len(gates), f"all {total} passed")
    told = [f"{count} {GATE_WORDS[verdict]}" for verdict, count in counts.items() if count]
    return f"{total}: {', '.join(told)}"


def _gate(entry: Mapping[str, Any]) -> Gate:
    verdict = str(entry.get("verdict"))
    least, most = number(entry.get("min")), number(entry.get("max"))
    stat = str(entry.get("stat") or "mean")
    return Gate(
        metric=one_line(str(entry.get("metric"))),
        slice=_slice(entry.get("slice")),
        stat=stat,
        asks=_asks(entry, stat, least, most),
        # What is not known to have passed has not.
        verdict=verdict if verdict in VERDICTS else "undecided",
        value=number(entry.get("value")),
        # The interval is that of the mean, and says nothing of a count.
        low=number(entry.get("low")) if stat in _OF_THE_MEAN else None,
        high=number(entry.get("high")) if stat in _OF_THE_MEAN else None,
        least=least,
        most=most,
        n=count(entry.get("n")),
        errors=count(entry.get("errors")),
        skipped=count(entry.get("skipped")),
        reason=one_line(str(entry.get("reason") or ""), 600),
    )


def _asks(entry: Mapping[str, Any], stat: str, least: float | None, most: float | None) -> str:
    name = _STATS.get(stat, stat.replace("_", " "))
    bounds = []
    if least is not None:
        bounds.append(f"{name} ≥ {_bound(least)}")
    if most is not None:
        bounds.append(f"{name} ≤ {_bound(most)}")
    drop = number(entry.get("max_drop"))
    if drop is not None:
        clearly = "significantly " if entry.get("significant") else ""
        than = f"{clearly}more than {_bound(drop)}" if drop else f"{clearly}at all"
        bounds.append(f"no drop {than} below {one_line(str(entry.get('baseline')), 80)}")
    return " and ".join(bounds) or name


def _bound(value: float) -> str:
    short = f"{value:g}"
    return short if "e" not in short else figure(value)


def _slice(value: Any) -> str:
    if isinstance(value, dict):
        return one_line(", ".join(f"{key} = {one}" for key, one in value.items()))
    return one_line(str(value)) if value else ""
