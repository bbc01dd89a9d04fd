"""The `usage` of a record: tokens, dollars and milliseconds, read from the spellings that people write.

A value that is not known stays absent; it is never 0.
"""

from __future__ import annotations

import re
from typing import Any

UNITS_MS = {"ms": 1.0, "s": 1000.0, "m": 60_000.0, "min": 60_000.0, "h": 3_600_000.0, "us": 0.001, "µs": 0.001}
NUMBERS = ("input_tokens", "output_tokens", "total_tokens", "cost_usd", "latency_ms")
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|us|µs)\s*")


def read_usage(given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The usage on the wire, and what is wrong with it; `latency: "0.29s"` becomes `latency_ms`."""
    usage: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name in NUMBERS:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return {}, f"usage.{name} is {value!r}, which is not a number"
            if value < 0:
                return {}, f"usage.{name} is {value!r}, which is below zero"
        usage[name] = value
    if isinstance(usage.get("latency"), str) and "latency_ms" not in usage:
        match = _DURATION.fullmatch(usage["latency"])
        if match is None:
            return {}, f"usage.latency is {usage['latency']!r}, which is no duration such as 0.29s or 290ms"
        usage["latency_ms"] = round(float(match[1]) * UNITS_MS[match[2]], 6)
        del usage["latency"]
    return usage, ""
