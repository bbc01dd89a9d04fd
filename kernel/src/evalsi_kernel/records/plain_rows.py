"""Rows that are records on the wire as they stand, told a chunk at a time in columns: most data is of this kind.

It refuses nothing. Whatever is not plainly plain is left to the intake, which reads it field by field.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import Any

from evalsi_kernel.records.usage import NUMBERS

_TEXTS = frozenset({"id", "input", "output", "reference"})
_MAPS = frozenset({"metadata", "provenance"})
_PLAIN = _TEXTS | _MAPS | {"usage"}
_SCALARS = frozenset({str, int, float, bool, type(None)})


def plain_ids(rows: list[dict[str, Any]]) -> list[str] | None:
    """The rows' ids, where all have the same fields, each in its wire form already: text, flat maps, usage in numbers.

    None where not all are known to be so.
    """
    names = rows[0].keys()
    # Two names at least, so that the getter gives a tuple for each row.
    if not names <= _PLAIN or "id" not in names or len(names) < 2 or set(map(len, rows)) != {len(names)}:
        return None
    try:
        columns = dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
    except KeyError:
        return None
    ids = columns["id"]
    return [*ids] if all(map(_is_plain, columns, columns.values())) and "" not in ids else None


def _is_plain(name: str, column: tuple[Any, ...]) -> bool:
    if name in _TEXTS:
        return _are_texts(column)
    return set(map(type, column)) == {dict} and (_are_scalars(column) if name in _MAPS else _are_usages(column))


def _are_texts(values: Iterable[Any]) -> bool:
    try:
        # Half the time of looking at the type of each.
        "".join(values)
    except TypeError:
        return False
    return True


def _are_scalars(maps: Iterable[dict[str, Any]]) -> bool:
    return _SCALARS.issuperset(map(type, chain.from_iterable(map(dict.values, maps))))


def _are_usages(maps: Iterable[dict[str, Any]]) -> bool:
    values = [*chain.from_iterable(map(dict.values, maps))]
    if not NUMBERS.issuperset(chain.from_iterable(maps)) or not {int, float}.issuperset(map(type, values)):
        return False
    try:
        # The sum is finite only where each of them is.
        return isfinite(sum(values)) and min(values, default=0) >= 0
    except OverflowError:
        return False
