"""Owns CSV and TSV: a header, then one row a record, every cell text, an empty cell absent.

The grammar is the csv module's (RFC 4180 in its strict form); a row's number is that of the line it begins in.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import Row

from .encoding import decode_utf8
from .file_bytes import FileBytes
from .file_source import CHUNK_CHARACTERS, CHUNK_ROWS, FileSource
from .lines import line_batches

# A header that holds one of these in a single cell is of a file with another separator: it tells no columns apart.
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_SUFFIXES = {",": ".csv", "\t": ".tsv"}
_QUOTES = 'Quote cells that hold commas, quotes or line ends, and write a quote in them as "".'


class Delimited(FileSource):
    """Rows of a .csv or .tsv file; blank lines hold none.

    Args:
        data: the file.
        delimiter: "," or a tab.
    """

    cells_are_text = True

    def __init__(self, data: FileBytes, delimiter: str) -> None:
        super().__init__(data)
        self._delimiter = delimiter
        self._characters = 0

    def chunks(self) -> Iterator[list[tuple[int, Row]]]:
        """The rows; those before a fault come before it is raised.

        Raises:
            DatasetError: the header or a row is off; the message says where and why.
        """
        rows: list[tuple[int, Row]] = []
        chunk_end = CHUNK_CHARACTERS
        try:
            for number, row in self._rows():
                rows.append((number, row))
                if self._characters >= chunk_end or len(rows) >= CHUNK_ROWS:
                    yield rows
                    rows = []
                    chunk_end = self._characters + CHUNK_CHARACTERS
        except DatasetError:
            if rows:
                yield rows
            raise
        if rows:
            yield rows

    def _rows(self) -> Iterator[tuple[int, Row]]:
        header: list[str] = []
        for number, cells in self._cells():
            if not header:
                self._check_header(cells, number)
                header = cells
                continue
            if len(cells) != len(header):
                self._refuse(
                    f"line {number}",
                    f"the cells of this row are {len(cells)}, and those of the header {len(header)}",
                    f"Give every row as many cells as the header. {_QUOTES}",
                )
            yield number, {name: cell or None for name, cell in zip(header, cells, strict=True)}

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        """Each row with the number of the line that it begins in."""
        # A cell may be as long as any other text; the csv module's own limit is one for the whole process.
        csv.field_size_limit(sys.maxsize)
        reader = csv.reader(self._lines(), delimiter=self._delimiter, strict=True)
        first = 1
        try:
            for cells in reader:
                if cells:
                    yield first, cells
                first = reader.line_num + 1
        except csv.Error as cause:
            self._refuse_grammar(first, reader.line_num, str(cause))

    def _lines(self) -> Iterator[str]:
        for batch in line_batches(self._data.blocks(), self.name):
            for number, line in enumerate(batch.lines, batch.first):
                where = f"{self.name}, line {number}"
                text = decode_utf8(line, where, self._data.head, first=number == 1, ended=batch.ended)
                self._characters += len(text) + 1
                yield text + "\n" if batch.ended else text

    def _check_header(self, names: list[str], number: int) -> None:
        separators = [mark for mark in _SEPARATORS if len(names) == 1 and mark in names[0]]
        if separators:
            [other, *_] = separators
            named = f", or name the file {_SUFFIXES[other]}" if other in _SUFFIXES else ""
            self._refuse(
                f"line {number}",
                f"the header is one column, whose name holds {_SEPARATORS[other]}",
                f"Separate the cells by {_SEPARATORS[self._delimiter]}{named}.",
            )
        for column, name in enumerate(names, 1):
            if not name.strip():
                self._refuse(f"line {number}", f"column {column} of the header has no name", "Name every column.")
            if name in names[: column - 1]:
                self._refuse(
                    f"line {number}",
                    f'columns {names.index(name) + 1} and {column} of the header are both named "{name}"',
                    "Give every column a name of its own.",
                )

    def _refuse_grammar(self, first: int, line: int, cause: str) -> None:
        if "unexpected end of data" in cause:
            self._refuse(f"line {first}", "a quote that opens in this row is never closed", _QUOTES)
        if "new-line character" in cause:
            self._refuse(f"line {line}", "a line ends in CR alone", "Save the file with LF or CRLF line ends.")
        self._refuse(f"line {line}", f"the row cannot be read: {cause}", _QUOTES)
