"""Spans of time and sizes as people write them, and as they read them.

It must not know what is measured.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from evalsi_kernel.errors import UsageError

_SPAN_S = {"h": 3600, "d": 86_400, "w": 604_800}
_SIZE_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZE_BYTES |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_MEASURE = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<unit>[a-z]+)", re.ASCII)


def parse_span_s(flag: str, text: str) -> float:
    """Seconds of a span such as 12h, 30d or 2w; raises `UsageError`."""
    return _parse(flag, text, _SPAN_S, "Write hours, days or weeks, such as 12h, 30d or 2w.")


def parse_size_bytes(flag: str, text: str) -> int:
    """Bytes of a size such as 500MB (a million bytes each) or 2GiB (2³⁰ bytes each); raises `UsageError`."""
    return int(_parse(flag, text, _SIZE_BYTES, "Write a number and its unit, such as 500MB or 2GB."))


def size_text(size_bytes: int) -> str:
    """A size in the unit that suits it."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size, unit = size_bytes / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if size < 999.95:
            break
        size, unit = size / 1000, larger
    return f"{size:.1f} {unit}"


def moment_text(moment_s: float) -> str:
    """A moment, to the minute."""
    return f"{datetime.fromtimestamp(moment_s, UTC):%Y-%m-%d %H:%M} UTC"


def _parse(flag: str, text: str, units: dict[str, int], hint: str) -> float:
    found = _MEASURE.fullmatch(text.strip().lower())
    if found is None or found["unit"] not in units:
        raise UsageError(f"{flag} is {text!r}, which has no number and unit that it knows.", hint)
    return float(found["number"]) * units[found["unit"]]
