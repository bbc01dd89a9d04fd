"""Owns JSON documents: an array of objects, or an object that holds one list of objects, read an element at a time.

Of a results file the records are read, to be scored again. What JSON is and what of it is refused belongs to
`strict_json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Row, Rows

from .file_source import CHUNK_CHARACTERS, CHUNK_ROWS, FileSource
from .strict_json import FEW, JsonFault, kind_of, read_listed, read_value, value_end
from .text_window import TextWindow

_NUMBER_SO_FAR = re.compile(r"[\d.eE+-]+")
_OF_RESULTS = ["schema_version", "manifest", "summaries"]
"""The first names of a results file, whose records are under `records`."""
_RECORDS = 'Write an array of objects, or an object that holds one, such as {"data": [{"input": "…"}]}.'


class JsonDocument(FileSource):
    """Rows of a .json file, in memory that does not grow with the document."""

    unit = "element"

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows, numbered in their list; an element that cannot be a row is a `BrokenRow`.

        Raises:
            DatasetError: the document is not JSON, or not one of records; the message says where and why.
        """
        window = TextWindow(self._data)
        opening = window.next_character()
        if opening == "[":
            window.at += 1
            yield from self._rows(window)
            self._end(window, "array", "Write one array alone.")
        elif opening == "{":
            window.at += 1
            yield from self._members(window)
        elif opening:
            self._refuse_at(window, "the document is neither an array nor an object", _RECORDS)

    def _members(self, window: TextWindow) -> Iterator[Rows | BrokenRow]:
        """The rows of the one list of objects among an object's members."""
        names: list[str] = []
        records: str | None = None
        has_empty = False
        for name in self._names(window):
            names.append(name)
            if window.next_character() != "[":
                self._value(window, f'"{name}"')
                continue
            window.at += 1
            first = window.next_character()
            is_results = names[: len(_OF_RESULTS)] == _OF_RESULTS
            if first != "{" or (is_results and name != "records"):
                has_empty = has_empty or first == "]"
                for _, values in self._elements(window, f'"{name}", '):
                    for value in values:
                        if isinstance(value, DatasetError):
                            raise value
                continue
            if records is not None:
                self._refuse_at(
                    window,
                    f'both "{records}" and "{name}" are lists of objects, and only one can be the records',
                    "Keep one of them in the file.",
                )
            records = name
            yield from map(_with_trials_apart, self._rows(window)) if is_results else self._rows(window)
        self._end(window, "object", "If each line holds an object of its own, name the file .jsonl.")
        if records is None and not has_empty:
            among = f" among {', '.join(names[:10])}" if names else ""
            raise DatasetError(f"{self.name}: the object holds no list of objects{among}.", _RECORDS)

    def _names(self, window: TextWindow) -> Iterator[str]:
        """Each member's name, with the window at its value; the value must be read before the next."""
        character = window.next_character()
        while character != "}":
            if character != '"':
                self._refuse_at(window, "a name in double quotes is missing", "Add it, or take the last comma away.")
            name = self._value(window, "a name")
            if window.next_character() != ":":
                self._refuse_at(window, f'a colon is missing after "{name}"', "Add it.")
            window.at += 1
            window.next_character()
            yield name
            character = self._separator(window, "}")
        window.at += 1

    def _rows(self, window: TextWindow) -> Iterator[Rows | BrokenRow]:
        rows: Rows = []
        chunk_end = window.taken + CHUNK_CHARACTERS
        try:
            for first, values in self._elements(window, ""):
                for number, value in enumerate(values, first):
                    if type(value) is not dict:
                        if rows:
                            yield rows
                            rows = []
                        yield BrokenRow(number, self._not_a_row(value, number))
                        continue
                    rows.append((number, value))
                    if len(rows) >= CHUNK_ROWS:
                        yield rows
                        rows = []
                if rows and window.taken >= chunk_end:
                    yield rows
                    rows = []
                    chunk_end = window.taken + CHUNK_CHARACTERS
        except DatasetError:
            if rows:
                yield rows
            raise
        if rows:
            yield rows

    def _not_a_row(self, value: Any, number: int) -> DatasetError:
        if isinstance(value, DatasetError):
            return value
        what = f"{kind_of(value)} stands where an object should"
        return DatasetError(f"{self.name}, element {number}: {what}.", _RECORDS)

    def _elements(self, window: TextWindow, within: str) -> Iterator[tuple[int, list[Any]]]:
        """Runs of values with the number of the first, from behind the opening bracket to behind the closing one.

        In place of a value that a record cannot carry, such as NaN, there is a `DatasetError`.
        """
        number = 1
        character = window.next_character()
        while character != "]":
            values: list[Any] = []
            if number > FEW:
                values, window.at = read_listed(window.text, window.at)
            last = number + len(values)
            try:
                try:
                    values.append(self._value(window, f"{within}element {last}"))
                except _SkippedValueError as error:
                    values.append(error)
                character = self._separator(window, "]")
            except DatasetError:
                yield number, values
                raise
            yield number, values
            number = last + 1
        window.at += 1

    def _separator(self, window: TextWindow, closing: str) -> str:
        """Move behind a comma to what follows, or to the closing bracket."""
        character = window.next_character()
        if character == ",":
            window.at += 1
            character = window.next_character()
            if character == closing:
                self._refuse_at(window, f'nothing stands between the comma and "{closing}"', "Take the comma away.")
        elif character != closing:
            self._refuse_at(window, f'a comma or "{closing}" is missing', "Add it.")
        return character

    def _value(self, window: TextWindow, what: str) -> Any:
        """The value at the window, which is then behind it; the window grows until the value is whole."""
        while True:
            # A number is whole only where something else follows it: `1.` and `1e` begin with one, and go on.
            if _NUMBER_SO_FAR.fullmatch(window.text, window.at) and window.more():
                continue
            start = window.at
            try:
                value, end = read_value(window.text, start)
            except JsonFault as fault:
                if fault.cut_off and window.more():
                    continue
                place = window.place(window.at + fault.position - start)
                if fault.cut_off:
                    raise self._cut_off(f"{what} ({place})") from fault
                kind = _SkippedValueError if self._skip(window) else DatasetError
                raise kind(f"{self.name}, {what} ({place}): {fault.message}.", fault.hint) from fault
            if end < len(window.text) and _NUMBER_SO_FAR.fullmatch(window.text, start):
                raise self._cut_off(f"{what} ({window.place(end)})")
            window.at = end
            return value

    def _skip(self, window: TextWindow) -> bool:
        """Move behind a value that a record cannot carry; False where it is no JSON either."""
        while True:
            try:
                window.at = value_end(window.text, window.at)
            except JsonFault as fault:
                if fault.cut_off and window.more():
                    continue
                return False
            return True

    def _end(self, window: TextWindow, what: str, hint: str) -> None:
        if window.next_character():
            self._refuse_at(window, f"something follows the end of the {what}", hint)

    def _refuse_at(self, window: TextWindow, message: str, hint: str) -> NoReturn:
        place = window.place(window.at)
        if not window.next_character():
            raise self._cut_off(place)
        raise DatasetError(f"{self.name}, {place}: {message}.", hint)

    def _cut_off(self, where: str) -> DatasetError:
        return DatasetError(
            f"{self.name}, {where}: the file is cut off here, before its last bracket.",
            "Write it again, or fetch it whole.",
        )


class _SkippedValueError(DatasetError):
    """A value that a record cannot carry; reading goes on behind it."""


def _with_trials_apart(chunk: Rows | BrokenRow) -> Rows | BrokenRow:
    """Rows of a run's results, where each trial has the id of its record: those of the second become `id@2`."""
    if isinstance(chunk, BrokenRow):
        return chunk
    return [
        (number, {**row, "id": f"{row['id']}@{trial}"} if (trial := _trial(row)) > 1 else row) for number, row in chunk
    ]


def _trial(row: Row) -> int:
    origin = row.get("provenance")
    run = origin.get("run") if isinstance(origin, dict) else None
    trial = run.get("trial") if isinstance(run, dict) else None
    return trial if type(trial) is int and "id" in row else 1
