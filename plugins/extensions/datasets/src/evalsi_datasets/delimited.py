"""Owns CSV and TSV: a header, then one row a record, every cell text, an empty cell absent.

The grammar is the csv module's (RFC 4180 in its strict form); a row's number is that of the line it begins in.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Row, Rows

from .encoding import decode_utf8, refuse_wrong_kind
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
        self._undecodable: DatasetError | None = None

    def _of(self, data: FileBytes) -> Delimited:
        return Delimited(data, self._delimiter)

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows; one that cannot be read is a `BrokenRow`.

        Raises:
            DatasetError: the header is wrong, or the rest cannot be read; the message says where and why.
        """
        rows: Rows = []
        chunk_end = CHUNK_CHARACTERS
        try:
            for number, row in self._rows():
                if isinstance(row, DatasetError):
                    if rows:
                        yield rows
                        rows = []
                    yield BrokenRow(number, row)
                    continue
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

    def _rows(self) -> Iterator[tuple[int, Row | DatasetError]]:
        header: list[str] = []
        for number, cells in self._cells():
            if isinstance(cells, DatasetError):
                if not header:
                    raise cells
                yield number, cells
                continue
            if not header:
                self._check_header(cells, number)
                header = cells
                continue
            if len(cells) != len(header):
                yield (
                    number,
                    DatasetError(
                        f"{self.name}, line {number}: "
                        f"the cells of this row are {len(cells)}, and those of the header {len(header)}.",
                        f"Give every row as many cells as the header. {_QUOTES}",
                    ),
                )
                continue
            yield number, {name: cell or None for name, cell in zip(header, cells, strict=True)}

    def _cells(self) -> Iterator[tuple[int, list[str] | DatasetError]]:
        """Yield the cells of each row, or why it cannot be read, with the number of the line that it begins in."""
        # A cell may be as long as any other text; the csv module's own limit is one for the whole process.
        csv.field_size_limit(sys.maxsize)
        reader = csv.reader(self._lines(), delimiter=self._delimiter, strict=True)
        first = 1
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as cause:
                yield first, self._grammar_error(first, reader.line_num, str(cause))
            else:
                if cells is None:
                    return
                if self._undecodable is not None:
                    yield first, self._undecodable
                    self._undecodable = None
                elif cells:
                    yield first, cells
            first = reader.line_num + 1

    def _lines(self) -> Iterator[str]:
        for batch in line_batches(self._data.blocks(), self.name):
            for number, line in enumerate(batch.lines, batch.first):
                where = f"{self.name}, line {number}"
                if number == 1:
                    refuse_wrong_kind(where, self._data.head)
                try:
                    text = decode_utf8(line, where, ended=batch.ended)
                except DatasetError as error:
                    # The row is told of where it ends.
                    self._undecodable = self._undecodable or error
                    text = line.decode(errors="replace")
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

    def _grammar_error(self, first: int, line: int, cause: str) -> DatasetError:
        what, hint = f"the row cannot be read: {cause}", _QUOTES
        if "unexpected end of data" in cause:
            line, what = first, "a quote that opens in this row is never closed"
        elif "new-line character" in cause:
            what, hint = "a line ends in CR alone", "Save the file with LF or CRLF line ends."
        return DatasetError(f"{self.name}, line {line}: {what}.", hint)
