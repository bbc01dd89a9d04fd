"""Owns a table of cells, as text and as Markdown.

It must not know what stands in it. Names and explanations come from data, so what cannot be printed is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

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


def text_grid(grid: Grid, paint: Callable[[int, str, str], str] = lambda place, cell, padded: padded) -> str:
    """Return the columns under each other, two blanks between them.

    Args:
        grid: the table.
        paint: gives a cell its colour, from its column, its text, and the text as it is padded; no cell of the header.
    """
    lines = [[printable(cell) for cell in row] for row in (grid.header, *grid.rows)]
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]

    def laid_out(number: int, line: Sequence[str]) -> str:
        padded = [
            _padded(cell, width, right=place in grid.right)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        if number:
            padded = [paint(place, *cells) for place, cells in enumerate(zip(line, padded, strict=True))]
        return "  ".join(padded).rstrip()

    return "\n".join(laid_out(number, line) for number, line in enumerate(lines))


def markdown_grid(grid: Grid) -> str:
    """The same in Markdown."""
    rules = ["---:" if place in grid.right else "---" for place in range(len(grid.header))]
    lines = [[escaped(cell) for cell in grid.header], rules, *([escaped(cell) for cell in row] for row in grid.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """A text whose characters mean themselves in Markdown."""
    return _MARKDOWN.sub(lambda match: "\\" + match[0], printable(text))


def display_width(text: str) -> int:
    """How many columns of a terminal a printable text takes: two for wide characters, none for marks on another."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # A library of its own, which most tables do without.

    return sum(
        0 if category(char) in ("Mn", "Me", "Cf") else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def printable(text: str) -> str:
    """The text with what cannot be printed, such as a line's end or a terminal's command, escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines with everything but the ends of lines escaped where it cannot be printed."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def _padded(cell: str, width: int, *, right: bool) -> str:
    """The cell with blanks up to the width that it takes in a terminal."""
    blanks = " " * (width - display_width(cell))
    return blanks + cell if right else cell + blanks
