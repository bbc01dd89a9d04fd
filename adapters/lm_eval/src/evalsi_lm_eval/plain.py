"""What a task says of a doc, as JSON: numpy's values and tuples become plain ones.

It must not know a task.
"""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:
    """The value in JSON's own types; raises `TypeError` for what JSON does not have."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"The task gave {value!r:.60} of type {type(value).__name__}, which cannot be sent.")
