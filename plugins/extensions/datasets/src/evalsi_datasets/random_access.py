"""What readers of formats with an index share: archives and pipes are unpacked to a temporary file first."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from .file_source import FileSource


class RandomAccessSource(FileSource):
    """A source of rows whose reader moves about in the file."""

    unit = "row"

    def sha256(self) -> str | None:
        """Of the whole file, however many of its rows were read; of an archive or a pipe only once it was unpacked."""
        if self._is_seekable():
            for _ in self._data.blocks():
                pass
        return self._data.sha256()

    def _is_seekable(self) -> bool:
        return self._data.is_plain_file and not self._data.compression

    @contextmanager
    def _file(self) -> Iterator[IO[bytes]]:
        if self._is_seekable():
            with open(self._data.path, "rb") as file:
                yield file
            return
        with tempfile.TemporaryFile() as file:
            for block in self._data.blocks():
                file.write(block)
            file.seek(0)
            yield file
