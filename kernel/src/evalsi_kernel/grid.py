"""Owns a table of cells, as text and as Markdown.

It must not know what stands in it. Names and explanations come from data, so what cannot be printed is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from evalsi_kernel.table import display_width, padded, printable

_MARKDOWN = re.compile(r"[\\|`*<>\[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


class Grid(NamedTuple):
    """A table.

    Args:
        header: one cell a column.
        rows: as many cells each.
        right: the columns, by their place, whose cells stand at their right end.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Collection[int] = ()


def text_grid(grid: Grid) -> str:
    """Columns under each other, two blanks between them."""
    lines = [[printable(cell) for cell in row] for row in (grid.header, *grid.rows)]
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            padded(cell, width, right=place in grid.right)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown_grid(grid: Grid) -> str:
    """The same in Markdown."""
    rules = ["---:" if place in grid.right else "---" for place in range(len(grid.header))]
    lines = [[escaped(cell) for cell in grid.header], rules, *([escaped(cell) for cell in row] for row in grid.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """A text whose characters mean themselves in Markdown."""
    return _MARKDOWN.sub(lambda match: "\\" + match[0], printable(text))
