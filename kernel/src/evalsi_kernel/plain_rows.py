"""Rows that are records on the wire as they stand, told a chunk at a time in columns: most data is of this kind.

It refuses nothing. Whatever is not plainly plain is left to the intake, which reads it field by field.
"""

from __future__ import annotations

from math import isfinite
from operator import itemgetter
from typing import Any

from evalsi_kernel.usage import NUMBERS

_TEXTS = frozenset({"id", "input", "output", "reference"})
_MAPS = frozenset({"metadata", "provenance"})
_PLAIN = _TEXTS | _MAPS | {"usage"}
_SCALARS = frozenset({str, int, float, bool, type(None)})


def are_plain(rows: list[dict[str, Any]]) -> bool:
    """Whether all rows have the same fields, each in its wire form already: text, flat maps, usage in numbers."""
    names = rows[0].keys()
    # Two names at least, so that the getter gives a tuple for each row.
    if not names <= _PLAIN or "id" not in names or len(names) < 2 or set(map(len, rows)) != {len(names)}:
        return False
    try:
        columns = zip(*map(itemgetter(*names), rows), strict=True)
    except KeyError:
        return False
    return all(map(_is_plain, names, columns))


def _is_plain(name: str, column: tuple[Any, ...]) -> bool:
    kinds = set(map(type, column))
    if name in _TEXTS:
        return kinds == {str} and (name != "id" or "" not in column)
    if kinds != {dict}:
        return False
    values = [value for each in column for value in each.values()]
    if name in _MAPS:
        return _SCALARS.issuperset(map(type, values))
    if not NUMBERS.issuperset(key for each in column for key in each) or not {int, float}.issuperset(map(type, values)):
        return False
    return all(map(isfinite, values)) and min(values, default=0) >= 0
