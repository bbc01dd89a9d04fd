"""Why a row cannot travel, and where in it the fault is.

It must not know records: it looks at the row as it was given, whose names its author knows.
"""

from __future__ import annotations

from typing import Any

import msgpack

REFUSED = (ValueError, TypeError, OverflowError, RecursionError)
"""What msgpack raises for a value that has no wire form."""


def explain(row: dict[str, Any], error: Exception) -> tuple[str, str]:
    """A sentence without its full stop that names the column, and a hint."""
    path, cause = _find(row, [], error)
    name = ".".join(path).encode("utf-8", "backslashreplace").decode() or "the record"
    if isinstance(cause, UnicodeEncodeError):
        code_point = ord(cause.object[cause.start])
        return (
            f"{name} holds the lone surrogate U+{code_point:04X}, which is half a character",
            "Put the whole character there, or none: the text was cut, or decoded wrongly.",
        )
    if isinstance(cause, OverflowError):
        return f"{name} holds an integer beyond 64 bits", "Write it as text, in quotes."
    return f"{name} cannot be sent to an evaluator: {cause}", "Use text, finite numbers, lists and objects."


def _find(value: Any, path: list[str], error: Exception) -> tuple[list[str], Exception]:
    """The innermost part that fails, and how."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if fault := _fault(key):
            return [*path, str(key)], fault
        # An id of any size is written as text before it travels.
        if (path or key != "id" or type(part) is not int) and (fault := _fault(part)):
            return _find(part, [*path, str(key)], fault)
    return path, error


def _fault(value: Any) -> Exception | None:
    try:
        msgpack.packb(value)
    except REFUSED as error:
        return error
    return None
