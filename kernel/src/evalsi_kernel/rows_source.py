"""Rows that a script has at hand, as a source: each checked to be JSON, since Python holds more than that.

It must not know files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from evalsi_kernel.errors import DatasetError

ROWS_IN_A_CHUNK = 256
MAX_DEPTH = 120


class RowsSource:
    """Mappings from any iterable, read once."""

    unit = "row"
    may_block = True

    def __init__(self, rows: Iterable[Mapping[str, Any]], name: str = "rows") -> None:
        self.name = name
        self._rows = rows
        self._hash = hashlib.sha256()

    def chunks(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        """The rows, numbered from 1; raises `DatasetError` for one that is no mapping of JSON values."""
        chunk: list[tuple[int, dict[str, Any]]] = []
        for number, row in enumerate(self._rows, 1):
            chunk.append((number, self._json(row, number)))
            if len(chunk) == ROWS_IN_A_CHUNK:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def sha256(self) -> str | None:
        """Of the rows read so far, as JSON lines."""
        return self._hash.hexdigest()

    def _json(self, row: Any, number: int) -> dict[str, Any]:
        if not isinstance(row, Mapping):
            raise DatasetError(
                f"{self.name}, row {number}: {type(row).__name__} is no mapping.",
                "Give dicts or evalsi.Record objects.",
            )
        plain: dict[str, Any] = {}
        for key, value in row.items():
            plain[str(key)] = _plain(value, f"{self.name}, row {number}: {key}", 1)
        self._hash.update(json.dumps(plain, sort_keys=True).encode() + b"\n")
        return plain


def _plain(value: Any, where: str, depth: int) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise DatasetError(f"{where} is {value}, which is no JSON number.", "Use None for a value that is missing.")
        return value
    if depth > MAX_DEPTH:
        raise DatasetError(f"{where} is nested deeper than {MAX_DEPTH} levels.", "Flatten it.")
    if isinstance(value, Mapping):
        return {str(key): _plain(item, where, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, where, depth + 1) for item in value]
    if hasattr(value, "tolist"):
        # numpy's and pandas' scalars and arrays.
        return _plain(value.tolist(), where, depth + 1)
    raise DatasetError(
        f"{where} is {type(value).__name__}, which JSON does not have.", "Convert it to text or numbers."
    )
