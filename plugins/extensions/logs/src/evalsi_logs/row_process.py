"""Owns a process that prints lines: it is read no faster than its lines are wanted, and ends with its reader.

It must not know what a line says.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Iterator
from io import BufferedReader, FileIO
from typing import cast

from evalsi_kernel.supervision.launch import Command, Launch
from evalsi_kernel.supervision.spawn import Spawned, spawn

BUFFER_BYTES = 1 << 16
KEPT_LINES = 20
DRAIN_S = 2.0


class RowProcess:
    """A started process; its standard input is closed at once.

    Args:
        name: for error sentences.
        command: of the process.

    Raises:
        PackEnvironmentError: it cannot be started.
    """

    def __init__(self, name: str, command: Command) -> None:
        self._spawned: Spawned = spawn(Launch(name, command))
        process = self._spawned.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        # After Ctrl-C nobody waits for the thread that reads a silent process; with the program it ends all the same.
        atexit.register(self.close)
        self._out = BufferedReader(cast(FileIO, process.stdout), BUFFER_BYTES)
        self._said: deque[bytes] = deque(maxlen=KEPT_LINES)
        # What nobody reads would fill the pipe and stop the process.
        self._drain = threading.Thread(target=self._keep_last, name="evalsi-log-stderr", daemon=True)
        self._drain.start()

    def lines(self) -> Iterator[bytes]:
        """What it prints to standard output, a line at a time, until it ends."""
        yield from self._out

    def last_words(self) -> str:
        """The last line that it printed to standard error, once it has ended; "" where it printed none."""
        self._drain.join(DRAIN_S)
        lines = [line.decode("utf-8", "replace").strip() for line in self._said]
        return next((line.rstrip(".") for line in reversed(lines) if line), "")

    def close(self) -> None:
        """End it, with all that it started, and take its scratch folder away."""
        atexit.unregister(self.close)
        self._spawned.process.kill()
        self._drain.join(DRAIN_S)
        self._spawned.kill()

    def _keep_last(self) -> None:
        process = self._spawned.process
        assert process.stderr is not None
        for line in process.stderr:
            self._said.append(line[:2000])
