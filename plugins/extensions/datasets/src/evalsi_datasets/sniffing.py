"""Owns the choice of a reader where no name says the format: JSON Lines, or a document that goes on over lines.

It must not know how either is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalsi_kernel.records.sources import BrokenRow, Rows

from .file_source import FileSource

_MOST_BYTES = 2**20


class SniffedJson(FileSource):
    """Rows of standard input or of a pipe. `unit` is that of the format from the first chunk on."""

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """As the reader of the format gives them; raises `DatasetError` as it does."""
        reader = self._reader()
        self.unit = reader.unit
        yield from reader.chunks()

    def _reader(self) -> FileSource:
        first = self._data.first_character()
        if first == b"[" or (first == b"{" and _goes_on(self._data.first_line(_MOST_BYTES))):
            from .json_document import JsonDocument

            return JsonDocument(self._data)
        from .jsonl import JsonLines

        return JsonLines(self._data)


def _goes_on(line: bytes) -> bool:
    """Whether a line is the beginning of JSON that the next one goes on with; a line of JSON Lines is whole."""
    from .strict_json import JsonFault, read_value

    try:
        read_value(line.decode("utf-8", "replace"))
    except JsonFault as fault:
        return fault.cut_off
    return False
