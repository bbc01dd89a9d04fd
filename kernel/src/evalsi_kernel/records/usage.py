"""The `usage` of a record: tokens, dollars and milliseconds, read from the spellings that people write.

A value that is not known stays absent; it is never 0.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from evalsi_kernel.records.contents import BadField, a_map, shown

NUMBERS = frozenset({"input_tokens", "output_tokens", "total_tokens", "cost_usd", "latency_ms"})
UNITS_MS = {
    "ns": 1e-6,
    "us": 0.001,
    "µs": 0.001,
    "ms": 1.0,
    "s": 1000.0,
    "m": 60_000.0,
    "min": 60_000.0,
    "h": 3_600_000.0,
}
_INFINITE = float("inf")
_WHOLE = 2**53
_NUMBER = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_PLAIN_NUMBER = re.compile(_NUMBER, re.ASCII)
_DURATION = re.compile(rf"{_NUMBER}\s*({'|'.join(UNITS_MS)})", re.ASCII)


def read_usage(given: Any) -> dict[str, Any]:
    """The usage on the wire.

    Args:
        given: a map; a table's cells are text, so a number may be; `latency` is a duration such as `0.29s` and becomes
            `latency_ms`; what else there is stays as it is.

    Raises:
        BadField: it is no map, or a number in it is none, negative, or not finite.
    """
    usage: dict[str, Any] = {}
    for name, value in a_map("usage", given).items():
        kind = type(value)
        if name not in NUMBERS or ((kind is int or kind is float) and 0 <= value < _INFINITE):
            read = value
        else:
            read = _number(name, value)
        if read is not None:
            usage[name] = read
    if "latency" in usage and "latency_ms" not in usage:
        latency = usage.pop("latency")
        if not _is_blank(latency):
            usage["latency_ms"] = _duration_ms(latency)
    return usage


def _number(name: str, value: Any) -> int | float | None:
    """The number that a text holds; None for a blank cell."""
    if value is None or _is_blank(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _bad(name, value, "is not a number")
    if isinstance(value, str) and _PLAIN_NUMBER.fullmatch(value.strip()) is None:
        raise _bad(name, value, "is not a number of zero or more")
    number = float(value) if isinstance(value, str) else value
    if number < 0:
        raise _bad(name, value, "is below zero")
    if not isfinite(number):
        raise _bad(name, value, "is not finite")
    return int(number) if number < _WHOLE and number == int(number) else number


def _duration_ms(value: Any) -> float:
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    milliseconds = float(match[1]) * UNITS_MS[match[2]] if match is not None else _INFINITE
    if not isfinite(milliseconds):
        raise BadField(
            f"usage.latency is {shown(value)}, which is no duration with its unit",
            'Write for example "0.29s" or "290ms", or a number as latency_ms.',
        )
    # 0.57 s are 570 ms, not 569.9999999999999.
    return round(milliseconds, 6)


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _bad(name: str, value: Any, what: str) -> BadField:
    return BadField(f"usage.{name} is {shown(value)}, which {what}", "Write a number, or leave out what is not known.")
