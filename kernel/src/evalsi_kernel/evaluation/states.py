"""The states of a dataset-scope evaluator, kept on disk until they are aggregated.

It must not know what a state means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgpack

from evalsi_kernel.errors import OutputError
from evalsi_kernel.records.chunks import Outcome

STATES_IN_A_PART = 2_000
BYTES_IN_A_PART = 1 << 20
"""A part goes into one frame, so large states come in smaller parts."""


class States:
    """States in the order of the records."""

    def __init__(self) -> None:
        import tempfile  # 2 ms that only a score of the whole need pay.

        # Closed by `close`: it is filled during a run and read at its end.
        self._file = tempfile.TemporaryFile(prefix="evalsi-states-")  # noqa: SIM115
        self._pack = msgpack.Packer(use_bin_type=True).pack
        self.count = 0

    def add(self, column: Sequence[Outcome | None]) -> None:
        """Keep the states among a chunk's tallied outcomes; raises `OutputError` when the disk is full."""
        packed = [
            self._pack(outcome[1]["state"]) for outcome in column if outcome is not None and outcome[0] == "state"
        ]
        try:
            self._file.write(b"".join(packed))
        except OSError as error:
            raise _no_room(error) from error
        self.count += len(packed)

    def parts(self) -> Iterator[list[Any]]:
        """All states, some thousands at a time; none gives one empty part; raises as `add` does."""
        try:
            self._file.seek(0)
        except OSError as error:
            raise _no_room(error) from error
        unpacker = msgpack.Unpacker(self._file, raw=False)
        part: list[Any] = []
        start = 0
        for state in unpacker:
            part.append(state)
            if len(part) == STATES_IN_A_PART or unpacker.tell() - start >= BYTES_IN_A_PART:
                yield part
                part, start = [], unpacker.tell()
        yield part

    def close(self) -> None:
        """Forget them."""
        # What a full disk did not take is not missed now.
        with suppress(OSError):
            self._file.close()

    def __del__(self) -> None:
        # A run that ended early has not come to close them.
        if hasattr(self, "_file"):
            self.close()


def _no_room(error: OSError) -> OutputError:
    import tempfile

    return OutputError(
        f"The folder for temporary files, {tempfile.gettempdir()}, cannot be written: {error.strerror}.",
        "Free some space there, or set TMPDIR to another folder.",
    )
