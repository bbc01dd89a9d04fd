"""Bytes on their way to the kernel, in the order they were put.

Whoever may wait writes by itself, which spares a handover between threads for each frame; a thread of its own writes
for the reader, which never waits. It must not know a frame.
"""

from __future__ import annotations

import queue
import threading
from collections import deque

from evalsi_protocol.channels import Channel

ROOM = 64
"""How many pieces may wait to be written before whoever works must wait too."""


class Outbox:
    """The one place that writes to a channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pieces: deque[tuple[bytes, bool]] = deque()
        self._room = threading.Semaphore(ROOM)
        self._writing = threading.Lock()
        self._gone = False
        self._wakes: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_for_reader, name="evalsi-writer", daemon=True)
        self._writer.start()

    def wait_for_room(self) -> None:
        """Wait while too much is on its way; one piece may then be added, or the room given back."""
        self._room.acquire()

    def give_room_back(self) -> None:
        """Nothing was added after all."""
        self._room.release()

    def add(self, data: bytes, *, takes_room: bool) -> None:
        """Set the place of a piece among the others; it never waits, so that it can be called under a lock."""
        self._pieces.append((data, takes_room))

    def send(self) -> None:
        """Write what was added; what was added after the kernel is gone is dropped."""
        self._write()

    def send_soon(self) -> None:
        """Have the writer's thread write what was added; for the thread that reads."""
        self._wakes.put(True)

    def close(self, timeout_s: float) -> None:
        """Wait until all is written, for so long at most."""
        self._wakes.put(False)
        self._writer.join(timeout_s)

    def _write_for_reader(self) -> None:
        while self._wakes.get():
            self._write()
        self._write()

    def _write(self) -> None:
        # One thread writes, the others leave their pieces to it. It looks again after it has let go of the lock: a
        # piece that came in between would have no one.
        while self._pieces and self._writing.acquire(blocking=False):
            try:
                while self._pieces:
                    data, takes_room = self._pieces.popleft()
                    if not self._gone:
                        self._write_piece(data)
                    if takes_room:
                        self._room.release()
            finally:
                self._writing.release()

    def _write_piece(self, data: bytes) -> None:
        try:
            self._channel.write(data)
        except OSError:
            # The reader sees the end too and ends the session; what is left is taken and dropped, so that nobody waits.
            self._gone = True
