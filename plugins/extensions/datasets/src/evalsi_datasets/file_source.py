"""Owns what the readers of files have in common.

It must not know a format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NoReturn

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Rows

from .file_bytes import FileBytes

CHUNK_CHARACTERS = 64 * 1024
# Of tiny records so many text would hold tens of thousands, which take fifty times its size.
CHUNK_ROWS = 1024


class FileSource(ABC):
    """A source of rows that is read from bytes."""

    unit = "line"

    def __init__(self, data: FileBytes) -> None:
        self.name = data.name
        self.may_block = data.may_block
        self._data = data

    @abstractmethod
    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Rows with their 1-based numbers, about 64 kB of text and at most `CHUNK_ROWS` a chunk; read once.

        Raises:
            DatasetError: the rest cannot be read; the message says where.
        """

    def reopened(self) -> FileSource | None:
        """Return a second source of the same file; None of a pipe or standard input."""
        data = self._data.reopened()
        return None if data is None else self._of(data)

    def _of(self, data: FileBytes) -> FileSource:
        return type(self)(data)

    def expected(self, rows: int) -> int | None:
        """Return how many rows there will be, judged by the share of the file that so many took; None if unknown."""
        share = self._data.share()
        return None if share is None else round(rows / share)

    def sha256(self) -> str | None:
        """Of all bytes, before they are decompressed, in hex; None unless they were read to their end."""
        return self._data.sha256()

    def _refuse(self, where: str, message: str, hint: str) -> NoReturn:
        raise DatasetError(f"{self.name}, {where}: {message}.", hint)
