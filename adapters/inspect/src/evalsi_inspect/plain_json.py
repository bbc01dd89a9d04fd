"""Convert values to JSON that a record can hold; NaN and infinities become null."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any


def plain(value: Any) -> Any:
    """Return the value in JSON's types; a value that JSON cannot express becomes text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return plain(dump()) if callable(dump) else str(value)
