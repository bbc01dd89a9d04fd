"""How two JSON values differ, field by field, as JSON sees it: one type of number, true is none, keys in any order.

It must not know records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isclose
from typing import Any, NamedTuple

from evalsi_pack_core.violations import shown_value

_INDEX = re.compile(r"\[\d+\]")
_ABSENT: Any = object()

_Field = tuple[Any, Any, str, str]
"""What either side has there, the path, and the name: the last key above it, which may hold dots itself."""


class FieldDifference(NamedTuple):
    """One field that differs: its path, and what either side has there as JSON text; None where it has nothing."""

    path: str
    output: str | None
    reference: str | None

    def __str__(self) -> str:
        where = self.path or "the value"
        if self.output is None:
            return f"{where} is missing"
        if self.reference is None:
            return f"{where} is not in the reference"
        return f"{where} is {self.output}, not {self.reference}"


class Difference(NamedTuple):
    """Every field that differs, in the order of the reference, and how many fields were compared."""

    fields: list[FieldDifference]
    compared: int

    @property
    def share(self) -> float:
        """Equal fields over compared ones; where nothing is left to compare, all is equal."""
        return 1 - len(self.fields) / self.compared if self.compared else 1.0


def written_path(path: str) -> str:
    """A path as `differences` spells it, from one that a person wrote: any index as `[]`."""
    return path.replace("[*]", "[]")


def differences(
    output: Any,
    reference: Any,
    ignore: Iterable[str] = (),
    tolerance: Mapping[str, float] | None = None,
) -> Difference:
    """Compare two values down to their leaves: scalars and empty lists and objects. What is missing counts as one leaf.

    Args:
        output: a JSON value.
        reference: likewise.
        ignore: fields that are not compared: a name, or a path such as `a.b[0]` or `a.b[].c`; `$.` marks the root, so
            that `$.id` is no other `id`.
        tolerance: field, named likewise → absolute tolerance of its numbers.
    """
    ignored = frozenset(map(written_path, ignore))
    tolerances = {written_path(path): limit for path, limit in (tolerance or {}).items()}
    found: list[FieldDifference] = []
    compared = 0
    # A stack in place of recursion: JSON may be nested deeper than Python calls.
    pending: list[_Field] = [(output, reference, "", "")]
    while pending:
        left, right, path, name = pending.pop()
        if (left or right) and type(left) is type(right) and isinstance(left, (dict, list)):
            inner = _keys(left, right, path) if isinstance(left, dict) else _items(left, right, path, name)
            fields = [field for field in inner if not (ignored and _named(field, ignored))]
            # One that is empty beside one that is not is a leaf, but for what is ignored: beside {"id": 1} without id.
            if (left and right) or not fields:
                pending += reversed(fields)
                continue
        compared += 1
        if not _equal(left, right, _tolerance_of(path, name, tolerances) if tolerances else 0.0):
            found.append(FieldDifference(path, _shown(left), _shown(right)))
    return Difference(found, compared)


def _keys(left: dict[str, Any], right: dict[str, Any], path: str) -> Iterator[_Field]:
    for key in right | left:
        yield left.get(key, _ABSENT), right.get(key, _ABSENT), f"{path}.{key}" if path else key, key


def _items(left: list[Any], right: list[Any], path: str, name: str) -> Iterator[_Field]:
    for index in range(max(len(left), len(right))):
        yield (
            left[index] if index < len(left) else _ABSENT,
            right[index] if index < len(right) else _ABSENT,
            f"{path}[{index}]",
            name,
        )


def _equal(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right or (tolerance > 0 and _is_within(left, right, tolerance))
    return type(left) is type(right) and bool(left == right)


def _is_within(left: float, right: float, tolerance: float) -> bool:
    try:
        apart = abs(left - right)
        # 1.1 is within 0.1 of 1, though their floats are a little further apart.
        return apart <= tolerance or isclose(apart, tolerance, rel_tol=1e-9)
    except OverflowError:
        # An integer beyond every float is far from any.
        return False


def _named(field: _Field, names: frozenset[str]) -> bool:
    return any(form in names for form in _forms(field[2], field[3]))


def _tolerance_of(path: str, name: str, tolerances: Mapping[str, float]) -> float:
    return next((tolerances[form] for form in _forms(path, name) if form in tolerances), 0.0)


def _forms(path: str, name: str) -> tuple[str, ...]:
    """What a person may call the field, the most exact first: `$.a.b[0].c`, `a.b[0].c`, `a.b[].c` likewise, and `c`."""
    any_index = _INDEX.sub("[]", path)
    root = "$" if path.startswith("[") else "$."
    return root + path, path, root + any_index, any_index, name


def _shown(value: Any) -> str | None:
    return None if value is _ABSENT else shown_value(value)
