"""Owns how the rows of an answer are printed: as a table, as CSV, or as JSON.

It must not know what was asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

from evalsi_kernel.results.csv_text import csv_text
from evalsi_kernel.results.grid import Grid, printable, text_grid

NONE = "-"
MAX_CELL_CHARS = 200


class Answer(NamedTuple):
    """Rows under the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def as_table(answer: Answer) -> str:
    """Columns under each other; numbers stand at their right end."""
    right = [
        place
        for place in range(len(answer.columns))
        if any(_is_number(row[place]) for row in answer.rows)
        and all(row[place] is None or _is_number(row[place]) for row in answer.rows)
    ]
    return text_grid(Grid(answer.columns, [[_cell(one) for one in row] for row in answer.rows], right))


def as_csv(answer: Answer) -> str:
    """CSV with a line of names; formulas and control characters of strangers' texts are made harmless."""
    return csv_text(answer.columns, [list(map(plain, row)) for row in answer.rows])


def as_objects(answer: Answer) -> list[dict[str, Any]]:
    """An object a row, as JSON values."""
    names = _distinct(answer.columns)
    return [dict(zip(names, map(plain, row), strict=True)) for row in answer.rows]


def plain(value: Any) -> Any:
    """A value of a database as one of JSON; what is no number is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | bool | int) else str(value)


def _cell(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float | Decimal):
        return f"{float(value):.6g}"
    text = printable(str(plain(value)))
    return text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _distinct(names: Sequence[str]) -> list[str]:
    """Column names as keys: a second `n` is `n_2`."""
    found: list[str] = []
    for name in names:
        key, count = name, 1
        while key in found:
            count += 1
            key = f"{name}_{count}"
        found.append(key)
    return found
