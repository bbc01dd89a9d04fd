"""Memory shared with a pack process, in which the pack writes which record it is scoring."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from typing import Any

from evalsi_protocol.progress import SIZE_BYTES

_CELLS = struct.Struct("=QQQ")


class Progress:
    """The shared memory of one process. The pack is not trusted: validate what is read.

    Attributes:
        descriptor: inherited by the process.
    """

    __slots__ = ("descriptor",)

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def read(self) -> dict[str, Any] | None:
        """Return the request, index and session of the record that is being scored; None where there is none."""
        try:
            request, position, session = _CELLS.unpack(os.pread(self.descriptor, SIZE_BYTES, 0))
        except (OSError, struct.error):
            return None
        return {"request": request, "index": position - 1, "session": session} if position else None

    def close(self) -> None:
        """Release the memory; a second call does nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)


def make_progress() -> Progress | None:
    """Return shared memory for a process; None where the system provides none."""
    try:
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("evalsi-progress", os.MFD_CLOEXEC)
        else:
            import tempfile  # Not needed on Linux.

            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
    except OSError:
        return None
    os.ftruncate(descriptor, SIZE_BYTES)
    return Progress(descriptor)
