"""Owns rows that a reader in a process of its own prints: JSON lines, `{"row": …}`, then `{"end": COUNT}` or a fault.

What is cut off has no last line, and is told from what is whole. It must not know which tool's log is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import Row
from evalsi_kernel.supervision.launch import Command

from .row_process import RowProcess

CHUNK_BYTES = 64 * 1024
# Of small rows so many bytes would hold thousands, which take many times their size.
CHUNK_ROWS = 1024


class ReaderRows:
    """The samples of a log, one row each.

    Args:
        path: of the log.
        name: as the user wrote it.
        reader: the name of the pack that reads it.
        command: gives what starts its reader, which may take long the first time.
    """

    unit = "sample"
    may_block = True

    def __init__(self, path: str, name: str, reader: str, command: Callable[[], Command]) -> None:
        self.name = name
        self._path = path
        self._reader = reader
        self._command = command
        self._is_whole = False

    def chunks(self) -> Iterator[list[tuple[int, Row]]]:
        """The rows, about 64 kB of text and at most `CHUNK_ROWS` a chunk; read once.

        Raises:
            DatasetError: the log, or a sample of it, cannot be read; rows before the fault come before it.
            PackEnvironmentError: the reader cannot be started.
        """
        rows: list[tuple[int, Row]] = []
        number = size_bytes = 0
        said: dict[str, Any] = {}
        with closing(RowProcess(self._reader, self._command())) as process:
            for line in process.lines():
                said = _decoded(line)
                if not isinstance(said.get("row"), dict):
                    break
                number += 1
                size_bytes += len(line)
                rows.append((number, said["row"]))
                if size_bytes >= CHUNK_BYTES or len(rows) >= CHUNK_ROWS:
                    yield rows
                    rows, size_bytes = [], 0
            if rows:
                yield rows
            if said.get("end") != number:
                raise self._fault(said, process.last_words())
        self._is_whole = True

    def sha256(self) -> str | None:
        """Of all bytes of the log, in hex; None unless its samples were read to their end."""
        if not self._is_whole:
            return None
        with open(self._path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _fault(self, said: dict[str, Any], last_words: str) -> DatasetError:
        fault = said.get("fault")
        if isinstance(fault, dict):
            return DatasetError(f"{self.name}: {fault.get('message')}", str(fault.get("hint", "")))
        why = f": {last_words}" if last_words else ""
        return DatasetError(
            f"{self.name}: its reader ended before the log did{why}.",
            f"Run `evalsi doctor {self._reader}`.",
            code="dataset.unreadable",
        )


def _decoded(line: bytes) -> dict[str, Any]:
    """What a line says; nothing where it is cut off."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
