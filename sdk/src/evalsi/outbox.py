"""Write bytes to the kernel in the order they were added.

A thread that may block writes directly, which saves a thread switch for each frame. A dedicated thread writes for the
reader, which must not block.
"""

from __future__ import annotations

import queue
import threading
from collections import deque

from evalsi_protocol.channels import Channel

ROOM = 64
"""Maximum number of unwritten pieces before the worker blocks."""


class Outbox:
    """The only writer of a channel."""

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
        """Block while the queue is full. Afterwards add one piece, or give the room back."""
        self._room.acquire()

    def give_room_back(self) -> None:
        """Release the room that `wait_for_room` reserved, if nothing was added."""
        self._room.release()

    def add(self, data: bytes, *, takes_room: bool) -> None:
        """Append a piece to the queue. Never blocks, so that it can be called under a lock."""
        self._pieces.append((data, takes_room))

    def send(self) -> None:
        """Write the queued pieces. Pieces are dropped once the kernel has closed the channel."""
        self._write()

    def send_soon(self) -> None:
        """Let the writer thread write the queued pieces. For the reader thread."""
        self._wakes.put(True)

    def close(self, timeout_s: float) -> None:
        """Wait until all pieces are written, for at most `timeout_s` seconds."""
        self._wakes.put(False)
        self._writer.join(timeout_s)

    def _write_for_reader(self) -> None:
        while self._wakes.get():
            self._write()
        self._write()

    def _write(self) -> None:
        # Only one thread writes at a time. It checks the queue again after releasing the lock, since a piece added in
        # between would otherwise remain unwritten.
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
            # The reader notices the closed channel and ends the session. Drop the rest, so that no thread blocks.
            self._gone = True
