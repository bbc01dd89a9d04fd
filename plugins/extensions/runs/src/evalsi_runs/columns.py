"""Rows of cells as aligned text.

It must not know what a cell means.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi_kernel.table import display_width, printable


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows with their columns one under the other, two blanks between them; the last column is as long as it is."""
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(display_width(row[column]) for row in shown) for column in range(len(shown[0]))]
    lines = [
        "  ".join(cell + " " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
    return "\n".join(lines)
