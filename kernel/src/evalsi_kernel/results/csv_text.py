"""CSV of texts that strangers wrote, safe to print in a terminal and to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from evalsi_kernel.results.grid import printable_lines

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return CSV with a line of names; None is an empty cell.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, and control characters are escaped.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([csv_cell(name) for name in columns])
    writer.writerows([[csv_cell(one) for one in row] for row in rows])
    return file.getvalue().rstrip("\n")


def csv_cell(value: Any) -> Any:
    """Return a value as a cell; numbers and truth values stay as they are."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    risky = text.lstrip(" \u00a0\n").startswith(_FORMULA_STARTS) and not _is_number(text)
    shown = printable_lines(text)
    return f"'{shown}" if risky else shown


def _is_number(text: str) -> bool:
    # float() takes digits of all scripts, underscores and "-inf"; a spreadsheet takes these as numbers or texts.
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
