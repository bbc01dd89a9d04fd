"""The states of a dataset-scope evaluator, kept on disk until they are aggregated.

It must not know what a state means.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import msgpack

from evalsi_kernel.chunks import Outcome

STATES_IN_A_FRAME = 2_000


class States:
    """States in the order of the records."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="evalsi-states-")
        self._pack = msgpack.Packer(use_bin_type=True).pack
        self.count = 0

    def add(self, column: Sequence[Outcome | None]) -> None:
        """Keep the states among a chunk's outcomes."""
        for outcome in column:
            if outcome is not None and outcome[0] == "state":
                self._file.write(self._pack(outcome[1].get("state")))
                self.count += 1

    def parts(self) -> Iterator[list[Any]]:
        """All states, some thousands at a time; none gives one empty part."""
        self._file.seek(0)
        unpacker = msgpack.Unpacker(self._file, raw=False)
        part: list[Any] = []
        for state in unpacker:
            part.append(state)
            if len(part) >= STATES_IN_A_FRAME:
                yield part
                part = []
        yield part

    def close(self) -> None:
        """Forget them."""
        self._file.close()
