"""Convert a task's results to JSON: numpy values and tuples become plain values."""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:
    """Return the value in JSON's types.

    Raises:
        TypeError: JSON has no type for the value.
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"The task gave {value!r:.60} of type {type(value).__name__}, which cannot be sent.")
