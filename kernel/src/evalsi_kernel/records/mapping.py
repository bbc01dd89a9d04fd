"""`--map input=question`: which column, or nested value, becomes which field of a record.

It must not know what a field means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import UsageError
from evalsi_kernel.records.contents import a_map

FIELDS = ("id", "input", "output", "reference", "context", "trajectory", "usage", "metadata", "provenance", "check")
MISSING = object()
_NEXT_FIELD = re.compile(r",(?=\s*[A-Za-z_][\w.]*=)")
_INDEX = re.compile(r"-?[0-9]{1,9}")

Path = tuple[str, ...]


def parse_mapping(assignments: Iterable[str]) -> dict[str, Path]:
    """Read `FIELD=path` words, one or several separated by commas.

    A field may be nested, as in `usage.latency_ms=timing.total`. A comma belongs to a column's name unless `NAME=`
    follows it: `output=a,b` is the column "a,b".

    Raises:
        UsageError: a word has no `=`, names no field of a record, or names one twice.
    """
    mapping: dict[str, Path] = {}
    for word in (one for words in assignments for one in _separate(words)):
        field, equals, path = word.partition("=")
        if not equals or not field or not path:
            raise UsageError(f"--map {word!r} is not FIELD=COLUMN.", "Write for example --map input=question.")
        add_mapping(mapping, field, path)
    return mapping


def _separate(words: str) -> list[str]:
    """The assignments of one word."""
    return [one.strip() for one in _NEXT_FIELD.split(words)]


def add_mapping(mapping: dict[str, Path], field: str, path: str) -> None:
    """Add one assignment; raises `UsageError` as `parse_mapping` does."""
    top, *inner = field.split(".")
    if top not in FIELDS:
        raise UsageError(
            f"--map names the field {field!r}, which a record does not have.",
            f"{did_you_mean(top, FIELDS)} The fields are {', '.join(FIELDS)}.".strip(),
        )
    if "" in inner:
        raise UsageError(
            f"--map names the field {field!r}, in which a name is empty.", f"Write for example {top}.name."
        )
    if field in mapping:
        raise UsageError(f"--map gives the field {field!r} twice.", "Keep one.")
    mapping[field] = tuple(path.split("."))


def reach(value: Any, path: Path) -> Any:
    """The value at a path through maps and lists, or `MISSING`; a name that has dots itself is found too."""
    if not path:
        return value
    if isinstance(value, dict):
        for end in range(len(path), 0, -1):
            name = ".".join(path[:end])
            if name in value and (found := reach(value[name], path[end:])) is not MISSING:
                return found
    elif isinstance(value, list) and _INDEX.fullmatch(path[0]) and -len(value) <= int(path[0]) < len(value):
        return reach(value[int(path[0])], path[1:])
    return MISSING


class Mapper:
    """Applies a mapping to rows.

    Args:
        mapping: field → path.
    """

    def __init__(self, mapping: Mapping[str, Path]) -> None:
        self.missing = dict.fromkeys(mapping, 0)
        # Whole fields first, so that what is set inside of one is not overwritten by it.
        self._steps = sorted(
            ((field, field.split("."), path) for field, path in mapping.items()), key=lambda step: len(step[1])
        )
        # A column that is mapped goes where it is mapped to and nowhere else, and a field that is mapped takes nothing
        # but what is mapped to it.
        self._taken = {".".join(path) for path in mapping.values()} | mapping.keys()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with its columns under the names of fields; a field whose column is missing is counted and left out.

        Raises:
            BadField: a value is to be set inside of one that is no map.
        """
        taken = self._taken
        mapped = {name: value for name, value in row.items() if name not in taken}
        for field, names, path in self._steps:
            value = row[path[0]] if len(path) == 1 and path[0] in row else reach(row, path)
            if value is MISSING:
                self.missing[field] += 1
            elif len(names) == 1:
                mapped[field] = value
            else:
                _put(mapped, names, value)
        return mapped


def _put(fields: dict[str, Any], names: list[str], value: Any) -> None:
    """Set a nested value; the maps on the way are copied, for they are the row's own."""
    *outer, last = names
    place = fields
    for name in outer:
        inner = place.get(name)
        place[name] = {} if inner is None else dict(a_map(name, inner))
        place = place[name]
    place[last] = value
