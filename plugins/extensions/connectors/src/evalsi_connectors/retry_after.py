"""Reads from an answer's headers how long the provider asks to wait, in the forms that providers use.

It must not know whether anyone waits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Where no Retry-After is sent: what is used up, and when it is there again.
_LIMITS = (
    *((f"x-ratelimit-remaining-{what}", f"x-ratelimit-reset-{what}") for what in ("requests", "tokens")),
    *(
        (f"anthropic-ratelimit-{what}-remaining", f"anthropic-ratelimit-{what}-reset")
        for what in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long to wait, in seconds and never negative; None where the headers do not say.

    Args:
        headers: of the answer, with names in lower case or a mapping that does not mind the case. What is read:
            `retry-after-ms`, `retry-after` in seconds or as an HTTP date, and, where these are absent, when those
            limits that are used up are there again.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    said = headers.get("retry-after")
    if said is not None and (wait := _seconds_or_date(said, _now(headers))) is not None:
        return wait
    waits = [_reset(headers[reset], _now(headers)) for left, reset in _LIMITS if _used_up(headers, left, reset)]
    return max((wait for wait in waits if wait is not None), default=None)


def _used_up(headers: Mapping[str, str], left: str, reset: str) -> bool:
    return _number(headers.get(left)) == 0 and reset in headers


def _seconds_or_date(text: str, now: datetime) -> float | None:
    seconds = _number(text)
    if seconds is not None:
        return max(0.0, seconds)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return _until(date, now)


def _reset(text: str, now: datetime) -> float | None:
    """A reset in one of its three forms: seconds, `1m30s`, or a date of RFC 3339."""
    seconds = _number(text)
    if seconds is not None:
        return max(0.0, seconds)
    if re.fullmatch(rf"(?:{_DURATION.pattern})+", text.strip()):
        return sum(float(count) * _UNIT_S[unit] for count, unit in _DURATION.findall(text))
    try:
        return _until(datetime.fromisoformat(text.strip()), now)
    except ValueError:
        return None


def _until(date: datetime, now: datetime) -> float:
    return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds())


def _now(headers: Mapping[str, str]) -> datetime:
    """The provider's own clock where it tells it, since ours may be off."""
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
