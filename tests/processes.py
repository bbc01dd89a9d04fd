"""Waiting for other processes without looking again and again: for their end, for a line that they write to a pipe."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BOUND_S = 60.0


def still_running(ids: Iterable[int], within_s: float = BOUND_S) -> list[int]:
    """Those of the processes, which need be nobody's children, that have not ended within this time (Linux)."""
    until_s = time.monotonic() + within_s
    return [pid for pid in ids if not _ends(pid, max(0.0, until_s - time.monotonic()))]


def _ends(pid: int, within_s: float) -> bool:
    with suppress(ProcessLookupError):
        watched = os.pidfd_open(pid)
        try:
            return bool(select.select([watched], [], [], within_s)[0])
        finally:
            os.close(watched)
    return True


class Told:
    """The lines that processes write to a named pipe. Use `told`."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._rest = b""

    def line(self) -> str:
        """The next line, without its end."""
        while b"\n" not in self._rest:
            assert select.select([self._pipe], [], [], BOUND_S)[0], f"nobody wrote within {BOUND_S:g} s"
            self._rest += os.read(self._pipe, 4096)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


@contextmanager
def told(path: Path) -> Iterator[Told]:
    """Make a named pipe here; whoever opens it to write has a reader already."""
    os.mkfifo(path)
    # Open for both, so that it has no end while nobody writes.
    pipe = os.open(path, os.O_RDWR)
    try:
        yield Told(pipe)
    finally:
        os.close(pipe)
