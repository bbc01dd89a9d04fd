"""Owns how numbers are written: means, counts, sizes, money and times.

It must not know what they measure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .values import number

_SMALL = 0.001


def figure(value: float | None) -> str:
    """Three decimals; three digits where that many decimals would show nothing, or would be lost in the digits."""
    if value is None:
        return "–"
    size = abs(value)
    if 0 < size < _SMALL or size >= 1e12:
        return f"{value:.3g}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 100 else f"{value:.3f}"


def short(value: float) -> str:
    """An end of a scale: at most three digits, without zeros that say nothing."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def signed(value: float | None) -> str:
    """The same with its sign; a minus as long as a plus."""
    if value is None:
        return "–"
    text = figure(abs(value))
    if value and not text.strip("0.,"):
        return "±0"
    return f"+{text}" if value > 0 else f"−{text}" if value < 0 else "±0"


def interval(low: float | None, high: float | None) -> str:
    """Both ends; a dash where there is no interval."""
    return "–" if low is None or high is None else f"[{figure(low)}, {figure(high)}]"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 record`, `2,000 records`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def usd(value: Any, unknown: int = 0) -> str:
    """Money; `unknown` where nobody knows, and what is known of it where only a part is."""
    known = number(value)
    if known is None:
        return "unknown"
    value = known
    whole, _, cents = f"{value:,.{2 if abs(value) >= 1 else 4}f}".partition(".")
    return f"{'at least ' if unknown else ''}${whole}.{cents.rstrip('0').ljust(2, '0')}"


def milliseconds(value: Any) -> str:
    """A time in the unit that people read."""
    known = number(value)
    if known is None:
        return "–"
    value = known
    if 0 < value < 1:
        return "under 1 ms"
    return f"{value:,.0f} ms" if value < 1000 else seconds(value / 1000)


def seconds(value: float) -> str:
    """A time in seconds, minutes or hours."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def took(started: Any, finished: Any) -> str | None:
    """How long from one moment to another; None where either is none, or the clock went backwards."""
    took_s = _span_s(started, finished)
    return seconds(took_s) if took_s is not None and took_s >= 0 else None


def run_time(manifest: Mapping[str, Any]) -> str | None:
    """How long a run took, its attempts together without the time between them; None where that is not known."""
    attempts = manifest.get("attempts")
    if not isinstance(attempts, list) or len(attempts) < 2:
        return took(manifest.get("started_at"), manifest.get("finished_at"))
    spans = [_span_s(one.get("started_at"), one.get("finished_at")) for one in attempts if isinstance(one, dict)]
    known = [span for span in spans if span is not None and span >= 0]
    return f"{seconds(sum(known))} in {len(attempts)} attempts" if known else None


def _span_s(started: Any, finished: Any) -> float | None:
    try:
        return (datetime.fromisoformat(str(finished)) - datetime.fromisoformat(str(started))).total_seconds()
    except (ValueError, TypeError):
        return None


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of them lies, by the nearest rank; `values` are sorted and not empty."""
    # 0.07 of 100 is 7, though in floats it is more.
    return values[max(1, math.ceil(round(share * len(values), 9))) - 1]


def size(size_bytes: int) -> str:
    """A size in the unit that people read."""
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    return f"{size_bytes / 1_000:.0f} kB" if size_bytes < 1_000_000 else f"{size_bytes / 1_000_000:.2f} MB"
