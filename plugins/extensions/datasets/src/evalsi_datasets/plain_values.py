"""Owns the JSON form of what Parquet and the datasets library give: dates as ISO 8601 text, decimals as numbers.

It must not know where a value came from.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from math import isinf, isnan
from typing import Any

_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


class NoJsonFormError(Exception):
    """A value that JSON has no form for.

    Args:
        message: what it is, without a full stop.
        hint: what to do.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def plain(value: Any) -> Any:
    """The JSON form of a value.

    NaN is None: data frames write a missing number so. A decimal is the nearest float, or an int where it has no
    fraction.

    Raises:
        NoJsonFormError: there is none, as for bytes, infinities and durations.
    """
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, (float, Decimal)):
        return _number(value)
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        raise NoJsonFormError("holds bytes, which JSON cannot carry", "Leave the column out, or write it as text.")
    raise NoJsonFormError(
        f"holds a {type(value).__name__}, which JSON has no form for", "Leave the column out, or write it as text."
    )


def _number(value: float | Decimal) -> float | int | None:
    if isnan(value):
        return None
    if isinf(value):
        raise NoJsonFormError(f"is {value}, which is no JSON number", "Use null for a value that is missing.")
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    return float(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if type(key) is int:
        return str(key)
    raise NoJsonFormError(f"is a map whose keys are {type(key).__name__}", "Use keys that are text.")
