"""Pieces of Markdown that the written pages share.

It must not know what a page is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WRITTEN = "<!-- Written by `python -m tests.docs.reference --write` from {source}; do not edit. -->"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def code(text: str) -> str:
    """Text in the letters of code, nothing where there is none."""
    return f"`{text}`" if text else ""


def joined(lines: Iterable[str]) -> str:
    """The page of these lines."""
    return "\n".join(lines).rstrip() + "\n"
