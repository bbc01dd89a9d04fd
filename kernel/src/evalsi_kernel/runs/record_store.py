"""The records of a run on disk, read by their number: a run takes them in an order of its own.

It must not know what a record holds but its id.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from array import array
from itertools import accumulate
from pathlib import Path
from sys import intern
from typing import Any

import msgpack

from evalsi_kernel.files.atomic_file import as_output_error
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.records.intake import Intake
from evalsi_protocol.errors import WireError


class RecordStore:
    """Every record of a source, checked and written down once; memory holds eight bytes a record.

    Args:
        intake: gives the records.
        folder: where the file lies; it has no name there, so nothing is left of it.

    Attributes:
        sha256: of all the records as they are sent, in hex.
        clusters: the cluster of each record; None where the intake names no key for them.
        refusals: number of a record → why it can be sent to no evaluator.

    Raises:
        DatasetError: a record cannot be read.
        OutputError: the disk is full.
    """

    def __init__(self, intake: Intake, folder: Path) -> None:
        digest = hashlib.sha256()
        self.refusals: dict[int, WireError] = {}
        self.clusters: list[str] | None = None
        self._offsets = array("Q", [0])
        # It lives as long as the run: a `with` cannot close it.
        self._file = tempfile.TemporaryFile(dir=folder, buffering=1 << 20)  # noqa: SIM115
        with as_output_error(folder, "Free some space."):
            for chunk in intake.chunks():
                self._add(chunk)
                digest.update(chunk.packed_array)
            self._file.flush()
        self.sha256 = digest.hexdigest()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> dict[str, Any]:
        """The record as it is sent to evaluators, a map of its own."""
        start, end = self._offsets[number], self._offsets[number + 1]
        record: dict[str, Any] = msgpack.unpackb(os.pread(self._file.fileno(), end - start, start))
        return record

    def size_bytes(self, number: int) -> int:
        """How much a record takes as it is sent."""
        return self._offsets[number + 1] - self._offsets[number]

    def close(self) -> None:
        """Let the disk have its space back."""
        self._file.close()

    def _add(self, chunk: Chunk) -> None:
        if chunk.refusal is not None:
            for number in range(len(self), len(self) + len(chunk.ids)):
                self.refusals[number] = chunk.refusal
        if chunk.clusters is not None:
            if self.clusters is None:
                self.clusters = []
            self.clusters.extend(map(intern, chunk.clusters))
        self._file.writelines(chunk.packed)
        ends = accumulate(map(len, chunk.packed), initial=self._offsets.pop())
        self._offsets.extend(ends)
