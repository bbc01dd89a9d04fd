"""Owns JSON Lines: one object a line, lines cut at LF alone.

The fast path decodes a whole block; what it refuses, and the first lines of a file, are read line by line by
`strict_json`.
How deep a record may nest is the intake's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Row, Rows

from .encoding import decode_utf8, refuse_wrong_kind
from .file_source import FileSource
from .lines import LineBatch, line_batches
from .strict_json import FEW, JsonFault, kind_of, read_value

_BLANK = b" \t\r"


class JsonLines(FileSource):
    """Rows of a .jsonl or .ndjson file. Blank lines hold no row and are counted in the numbers."""

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows of each block that was read; a line that is no JSON object is a `BrokenRow`.

        Raises:
            DatasetError: the file is of another kind, or a line has no end.
        """
        for batch in _parted(line_batches(self._data.blocks(), self.name)):
            if batch.first <= FEW:
                # The fast decoder takes longer to load than Python's own takes to read these.
                yield from self._read_carefully(batch)
                continue
            from .fast_objects import REFUSED, decode_object

            try:
                rows = [decode_object(line) for line in batch.lines]
            except REFUSED:
                yield from self._read_carefully(batch)
                continue
            yield list(enumerate(rows, batch.first))

    def _read_carefully(self, batch: LineBatch) -> Iterator[Rows | BrokenRow]:
        rows: Rows = []
        last = batch.first + len(batch.lines) - 1
        for number, line in enumerate(batch.lines, batch.first):
            if not line.strip(_BLANK):
                continue
            if number == 1:
                refuse_wrong_kind(f"{self.name}, line 1", self._data.head)
            try:
                rows.append((number, self._read_line(line, number, ended=batch.ended or number < last)))
            except DatasetError as error:
                if rows:
                    yield rows
                    rows = []
                yield BrokenRow(number, error)
        if rows:
            yield rows

    def _read_line(self, line: bytes, number: int, *, ended: bool) -> Row:
        text = decode_utf8(line, f"{self.name}, line {number}", ended=ended)
        try:
            value = _whole(text)
        except JsonFault as fault:
            self._refuse_fault(fault, number, ended=ended)
        if not isinstance(value, dict):
            self._refuse_value(value, number)
        return value

    def _refuse_fault(self, fault: JsonFault, number: int, *, ended: bool) -> NoReturn:
        where = f"line {number}, column {fault.position + 1}"
        if fault.cut_off and not ended:
            self._refuse(
                where,
                f"the last line is cut off in the middle of a record ({fault.message})",
                "Write the record again, or remove the line.",
            )
        if fault.cut_off:
            hint = "Write each record on one line. If the file is one JSON document, name it .json."
            self._refuse(where, f"the line ends in the middle of a record ({fault.message})", hint)
        self._refuse(where, fault.message, fault.hint)

    def _refuse_value(self, value: Any, number: int) -> NoReturn:
        hint = 'Write each record as an object, such as {"input": "…", "output": "…"}.'
        if number == 1 and isinstance(value, list):
            hint += " If the file is one JSON array, name it .json."
        self._refuse(f"line {number}", f"{kind_of(value)} stands where an object should", hint)


def _parted(batches: Iterable[LineBatch]) -> Iterator[LineBatch]:
    """The same lines, with the first few of the file in no batch with others."""
    for batch in batches:
        few = FEW + 1 - batch.first
        if 0 < few < len(batch.lines):
            yield LineBatch(batch.first, batch.lines[:few], ended=True)
            yield LineBatch(FEW + 1, batch.lines[few:], batch.ended)
        else:
            yield batch


def _whole(text: str) -> Any:
    start = len(text) - len(text.lstrip(" \t\r"))
    value, end = read_value(text, start)
    if text[end:].strip(" \t\r"):
        end += len(text[end:]) - len(text[end:].lstrip(" \t\r"))
        raise JsonFault(end, "something follows the end of the value", "Write one object a line.")
    return value
