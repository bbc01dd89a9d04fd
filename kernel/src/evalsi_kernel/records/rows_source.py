"""Rows that a script has at hand, as a source: each checked to be JSON, since Python holds more than that.

It must not know files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import islice
from math import isfinite
from typing import Any

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.contents import MAX_NESTING
from evalsi_kernel.records.sources import BrokenRow, Rows

ROWS_IN_A_CHUNK = 256
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


class RowsSource:
    """Mappings from any iterable, read once."""

    unit = "row"
    may_block = True

    def __init__(self, rows: Iterable[Mapping[str, Any]], name: str = "rows") -> None:
        self.name = name
        self._rows = rows
        self._hash = hashlib.sha256()
        self._is_whole = False

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows, numbered from 1; one that is no mapping of JSON values is a `BrokenRow`."""
        numbered = enumerate(self._rows, 1)
        while some := list(islice(numbered, ROWS_IN_A_CHUNK)):
            try:
                chunk = [(number, self._json(row, number)) for number, row in some]
            except DatasetError:
                yield from self._one_by_one(some)
                continue
            self._hash.update("".join([f"{_encode(row)}\n" for _, row in chunk]).encode())
            yield chunk
        self._is_whole = True

    def _one_by_one(self, rows: Iterable[tuple[int, Any]]) -> Iterator[Rows | BrokenRow]:
        for number, row in rows:
            try:
                yield [(number, self._json(row, number))]
            except DatasetError as error:
                yield BrokenRow(number, error)

    def reopened(self) -> RowsSource | None:
        """Return a second source of the same rows; None where they come from an iterator."""
        return RowsSource(self._rows, self.name) if isinstance(self._rows, (list, tuple)) else None

    def expected(self, rows: int) -> int | None:
        """Return how many rows there are; None where they come from an iterator."""
        return len(self._rows) if isinstance(self._rows, Sized) else None

    def sha256(self) -> str | None:
        """Of all rows as JSON lines with sorted keys, in hex; None unless they were read to their end."""
        return self._hash.hexdigest() if self._is_whole else None

    def _json(self, row: Any, number: int) -> dict[str, Any]:
        where = f"{self.name}, row {number}"
        if not isinstance(row, Mapping):
            raise DatasetError(
                f"{where}: {type(row).__name__} is not a mapping.", "Give dicts or evalsi.Record objects."
            )
        return _map(row, where, 1)


def _plain(value: Any, where: str, depth: int) -> Any:
    """The value in JSON's own types: subclasses, tuples, and numpy's and pandas' scalars and arrays become these."""
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise DatasetError(f"{where} is {value}, which is no JSON number.", "Use None for a value that is missing.")
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if depth > MAX_NESTING:
        raise DatasetError(f"{where} is nested deeper than {MAX_NESTING} levels.", "Flatten it.")
    if isinstance(value, Mapping):
        return _map(value, where, depth + 1)
    if isinstance(value, (list, tuple)):
        return [_plain(item, where, depth + 1) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), where, depth + 1)
    raise DatasetError(
        f"{where} is of type {type(value).__name__}, which JSON does not have.", "Convert it to text or numbers."
    )


def _map(given: Mapping[Any, Any], where: str, depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in given.items():
        name = key if type(key) is str else _name(key, where)
        if name in plain:
            raise DatasetError(f"{where} has two keys that read {name!r} as text.", "Rename one.")
        plain[name] = value if type(value) is str else _plain(value, f"{where}: {name}", depth)
    return plain


def _name(key: Any, where: str) -> str:
    """Columns of a table may be numbers; anything else that is no text has no one way to be written as text."""
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(int(key))
    raise DatasetError(f"{where} has the key {key!r:.80}, which is not text.", "Use text for every key.")
