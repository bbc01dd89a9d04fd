"""The seam of dataset readers: what a source of rows gives the kernel.

It must not know a file format; readers are extensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

Row = dict[str, Any]


class Source(Protocol):
    """Rows in order, from wherever they are.

    A source may have a method `expected(rows: int) -> int | None`: how many rows there will be in all, as far as that
    is known or can be estimated after so many; the line of progress shows it. It may have a method
    `notes() -> list[tuple[str, str]]`: what it left out of the rows so far, each a sentence and a hint. Where its
    attribute `cells_are_text` is true, a text that holds JSON is read for the fields that hold lists or objects.
    """

    @property
    def name(self) -> str:
        """What it is called in errors and in the manifest."""

    @property
    def unit(self) -> str:
        """What its numbers count: line, row or element."""

    @property
    def may_block(self) -> bool:
        """Whether the next chunk may be long in coming (a pipe, a network); it is then awaited in a thread."""

    def chunks(self) -> Iterator[list[tuple[int, Row]]]:
        """Rows with their 1-based numbers, about 64 kB of text a chunk; read once.

        Raises:
            DatasetError: a row cannot be read; the message says where.
        """

    def sha256(self) -> str | None:
        """Of all the data's bytes, in hex; None where they were not read to their end, or are not the truth."""
