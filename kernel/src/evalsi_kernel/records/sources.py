"""The interface of dataset readers, which are extensions: what a source of rows gives the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from evalsi_kernel.errors import DatasetError

Row = dict[str, Any]


class BrokenRow(NamedTuple):
    """A row that cannot be read, where the reader can go on with the next one.

    Args:
        number: 1-based number of the row.
        error: why; the message says where.
    """

    number: int
    error: DatasetError


Rows = list[tuple[int, Row]]


class Source(Protocol):
    """Rows in order, from wherever they are.

    A source may have more methods. `expected(rows: int) -> int | None` returns how many rows there will be in all, as
    far as that is known or can be estimated after `rows` of them; the line of progress shows it.
    `reopened() -> Source | None` returns a second source of the same data, or None where it can be read only once; all
    rows are checked with it before a model is paid for. `notes() -> list[tuple[str, str]]` returns what was left out of
    the rows so far, each a sentence and a hint. Where the attribute `cells_are_text` is true, a text that holds JSON is
    read for the fields that hold lists or objects.
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

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Rows with their 1-based numbers, about 64 kB of text a chunk, in order; read once.

        A row that cannot be read is given in place of a chunk where the rows after it can be.

        Raises:
            DatasetError: the rest of the data cannot be read; the message says where.
        """

    def sha256(self) -> str | None:
        """Of all the data's bytes, in hex; None where they were not read to their end, or are not the truth."""


def readable_chunks(source: Source) -> Iterator[Rows]:
    """Yield the chunks of a source.

    Raises:
        DatasetError: a row cannot be read.
    """
    for chunk in source.chunks():
        if isinstance(chunk, BrokenRow):
            raise chunk.error
        yield chunk


def reopened(source: Source) -> Source | None:
    """Return a second source of the same data; None where it can be read only once."""
    reopen = getattr(source, "reopened", None)
    again: Source | None = reopen() if reopen is not None else None
    return again
