"""Owns a samples file of lm-evaluation-harness (`--log_samples`) as a source of rows: one object a line.

The harness writes a line for each doc and filter, filter after filter; the rows are those of one filter. It must not
know what a sample says.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from evalsi_kernel.errors import DatasetError, UsageError
from evalsi_kernel.records.sources import Row

from .harness_sample import NoSample, row_of

CHUNK_BYTES = 64 * 1024
# Of small rows so many bytes would hold thousands, which take many times their size.
CHUNK_ROWS = 1024
MAX_LINE_BYTES = 256 * 1024 * 1024
_TASK = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T[\d.-]+)?\.jsonl")


class HarnessSamples:
    """The samples of a task.

    Args:
        path: of the file.
        name: as the user wrote it.
        wanted: the filter whose samples are read; "" means the first one's.
    """

    unit = "line"
    may_block = False

    def __init__(self, path: str, name: str, wanted: str = "") -> None:
        self.name = name
        self._path = path
        self._filter = wanted
        self._hash = hashlib.sha256()
        self._is_whole = False
        named = _TASK.fullmatch(os.path.basename(path))
        self._task = named["task"] if named else ""

    def chunks(self) -> Iterator[list[tuple[int, Row]]]:
        """The rows with the numbers of their lines, about 64 kB of text and at most `CHUNK_ROWS` a chunk; read once.

        Raises:
            DatasetError: a line is no sample, or there is none of the wanted filter; rows before the fault come first.
        """
        rows: list[tuple[int, Row]] = []
        size_bytes, found, filters = 0, False, set[str]()
        try:
            for number, line in self._lines():
                sample = self._sample(number, line)
                name = str(sample.get("filter", "none"))
                filters.add(name)
                self._filter = self._filter or name
                if name != self._filter:
                    continue
                found = True
                rows.append((number, self._row(number, sample)))
                size_bytes += len(line)
                if size_bytes >= CHUNK_BYTES or len(rows) >= CHUNK_ROWS:
                    yield rows
                    rows, size_bytes = [], 0
        except DatasetError:
            if rows:
                yield rows
            raise
        if rows:
            yield rows
        if filters and not found:
            there_are = ", ".join(sorted(filters))
            raise DatasetError(f"{self.name}: no sample is of the filter {self._filter!r}.", f"There are {there_are}.")
        self._is_whole = True

    def sha256(self) -> str | None:
        """Of all bytes, in hex; None unless they were read to their end."""
        return self._hash.hexdigest() if self._is_whole else None

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        try:
            with open(self._path, "rb") as file:
                number = 0
                while line := file.readline(MAX_LINE_BYTES):
                    number += 1
                    self._hash.update(line)
                    if len(line) == MAX_LINE_BYTES:
                        self._refuse(number, f"it has no end within {MAX_LINE_BYTES // 2**20} MiB")
                    if line.strip():
                        yield number, line
        except OSError as cause:
            raise DatasetError(
                f"{self.name} cannot be read: {cause.strerror}.", "Check the path.", code="dataset.unreadable"
            ) from cause

    def _sample(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            # The harness writes NaN where a metric is not about a doc; a record cannot hold it.
            sample = json.loads(line, parse_constant=_nothing)
        except (ValueError, RecursionError) as cause:
            self._refuse(number, f"it is no JSON ({str(cause).partition(':')[0]})")
        if not isinstance(sample, dict):
            self._refuse(number, "it is no object")
        return sample

    def _row(self, number: int, sample: dict[str, Any]) -> Row:
        try:
            return row_of(sample, self._task)
        except NoSample as fault:
            self._refuse(number, str(fault))

    def _refuse(self, number: int, message: str) -> NoReturn:
        raise DatasetError(
            f"{self.name}, line {number}: {message}.", "Name a file that the harness' --log_samples wrote."
        )


def open_harness_samples(where: str, uri: str) -> HarnessSamples:
    """The samples at a path, which `?filter=NAME` may follow; nothing is read yet.

    Raises:
        DatasetError: there is no such file.
        UsageError: what follows the path is something else.
    """
    path, question_mark, query = where.partition("?")
    name, equals, wanted = query.partition("=")
    if question_mark and not (name == "filter" and equals and wanted):
        raise UsageError(f"{uri} ends in ?{query}, which is not read.", "Write ?filter=NAME, or nothing.")
    if not os.path.isfile(path):
        raise DatasetError(
            f"There is no samples file {path or uri}.",
            "Write lm-eval://folder/samples_TASK.jsonl, or lm-eval:///folder/… for a path from the root.",
            code="dataset.unreadable",
        )
    return HarnessSamples(path, uri, wanted)


def _nothing(_word: str) -> None:
    return None
