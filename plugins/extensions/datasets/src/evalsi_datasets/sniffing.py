"""Owns the choice of a reader where no name says the format: JSON Lines, unless the first character opens an array.

It must not know how either is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalsi_kernel.records.sources import Row

from .file_source import FileSource


class SniffedJson(FileSource):
    """Rows of standard input or of a pipe. `unit` is that of the format from the first chunk on."""

    def chunks(self) -> Iterator[list[tuple[int, Row]]]:
        """As the reader of the format gives them; raises `DatasetError` as it does."""
        reader = self._reader()
        self.unit = reader.unit
        yield from reader.chunks()

    def _reader(self) -> FileSource:
        if self._data.first_character() == b"[":
            from .json_document import JsonDocument

            return JsonDocument(self._data)
        from .jsonl import JsonLines

        return JsonLines(self._data)
