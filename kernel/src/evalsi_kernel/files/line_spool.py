"""Lines on disk until a run's end: appended as they come, read from the start at any time, gone with the process.

The file has no name, so that nothing is left of it however the process ends. It must not know what a line means.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

BLOCK_BYTES = 1 << 20


class LineSpool:
    """Lines with `separator` between them, as the elements of a JSON array stand.

    Args:
        folder: where the file lies; None means the system's place for temporary files.
        separator: ends every line but the last.

    Raises:
        OSError: nothing can be written there; `append` and the readers raise it too when the disk is full.
    """

    def __init__(self, folder: Path | None, separator: bytes = b",\n") -> None:
        # A `with` cannot close it: it lives as long as whoever reads the results.
        self._file = tempfile.TemporaryFile(dir=folder, buffering=BLOCK_BYTES)  # noqa: SIM115
        self._separator = separator
        self._is_empty = True

    def append(self, lines: Sequence[str]) -> None:
        """Add lines, none of which holds a line feed."""
        if lines:
            text = self._separator.join([line.encode() for line in lines])
            self._file.write(text if self._is_empty else self._separator + text)
            self._is_empty = False

    def __iter__(self) -> Iterator[bytes]:
        """The lines so far, without what separates them; several readers do not disturb one another."""
        rest = b""
        for block in self._blocks():
            *lines, rest = (rest + block).split(self._separator)
            yield from lines
        if not self._is_empty:
            yield rest

    def copy_to(self, file: BinaryIO) -> None:
        """Write everything, separators included."""
        for block in self._blocks():
            file.write(block)

    def close(self) -> None:
        """Let the disk have its space back."""
        # What a full disk did not take is not missed now.
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
