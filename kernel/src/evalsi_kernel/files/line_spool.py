"""Lines in an anonymous temporary file, appended during a run and readable at any time; removed with the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

BLOCK_BYTES = 1 << 20


class LineSpool:
    """Lines with a separator between them, like the elements of a JSON array.

    Args:
        folder: folder of the file; None means the system's temporary folder.
        separator: separator between lines.

    Raises:
        OSError: the folder is not writable; `append` and reading raise it too when the disk is full.
    """

    def __init__(self, folder: Path | None, separator: bytes = b",\n") -> None:
        # Not in a `with` block: it lives as long as the reader of the results.
        self._file = tempfile.TemporaryFile(dir=folder, buffering=BLOCK_BYTES)  # noqa: SIM115
        self._separator = separator
        self._is_empty = True

    def append(self, lines: Sequence[str]) -> None:
        """Append lines without line feeds."""
        if lines:
            text = self._separator.join([line.encode() for line in lines])
            self._file.write(text if self._is_empty else self._separator + text)
            self._is_empty = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines so far, without separators; several readers may iterate at once."""
        rest = b""
        for block in self._blocks():
            *lines, rest = (rest + block).split(self._separator)
            yield from lines
        if not self._is_empty:
            yield rest

    def copy_to(self, file: BinaryIO) -> None:
        """Write everything to a file, including separators."""
        for block in self._blocks():
            file.write(block)

    def close(self) -> None:
        """Release the disk space."""
        # Buffered data that no longer fits on a full disk is not needed.
        with suppress(OSError):
            self._file.close()

    def _blocks(self) -> Iterator[bytes]:
        self._file.flush()
        offset = 0
        while block := os.pread(self._file.fileno(), BLOCK_BYTES, offset):
            yield block
            offset += len(block)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()
