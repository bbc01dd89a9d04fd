"""`--map input=question`: which column, or nested value, becomes which field of a record.

It must not know what a field means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalsi_kernel.errors import UsageError
from evalsi_kernel.suggestions import did_you_mean

FIELDS = (
    "id",
    "input",
    "output",
    "reference",
    "context",
    "trajectory",
    "usage",
    "metadata",
    "provenance",
    "check",
)
MISSING = object()


def parse_mapping(assignments: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read `FIELD=path` words; a field may be nested too, as in `usage.latency_ms=timing.total`.

    Raises:
        UsageError: a word has no `=`, or names no field of a record.
    """
    mapping: dict[str, tuple[str, ...]] = {}
    for word in assignments:
        field, equals, path = word.partition("=")
        if not equals or not field or not path:
            raise UsageError(f"--map {word!r} is not FIELD=COLUMN.", "Write for example --map input=question.")
        add_mapping(mapping, field, path)
    return mapping


def add_mapping(mapping: dict[str, tuple[str, ...]], field: str, path: str) -> None:
    """Add one assignment; raises `UsageError` as `parse_mapping` does."""
    top = field.split(".")[0]
    if top not in FIELDS:
        raise UsageError(
            f"--map names the field {field!r}, which a record does not have.",
            f"{did_you_mean(top, FIELDS)} The fields are {', '.join(FIELDS)}.".strip(),
        )
    if field in mapping:
        raise UsageError(f"--map gives the field {field!r} twice.", "Keep one.")
    mapping[field] = tuple(path.split("."))


def reach(row: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The value at a path through maps and lists, or `MISSING`; a column whose name has dots is found too."""
    whole = ".".join(path)
    if whole in row:
        return row[whole]
    value: Any = row
    for part in path:
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.lstrip("-").isdecimal() and -len(value) <= int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value
