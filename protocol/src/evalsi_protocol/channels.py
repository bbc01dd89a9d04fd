"""Blocking byte channels for the pack's side: file descriptors, sockets, memory."""

from __future__ import annotations

import os
import queue
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

READ_BYTES = 64 * 1024
# socket.SHUT_RDWR, without importing `socket`, which most packs do not need.
SHUT_RDWR = 2


class Channel(Protocol):
    """A duplex byte stream with blocking calls. One thread reads, one writes."""

    def read(self) -> bytes:
        """Return at least one byte; empty if the peer closed the stream."""
        ...

    def write(self, data: bytes) -> None:
        """Write all bytes. Raise `BrokenPipeError` if the peer closed the stream."""
        ...

    def close(self) -> None:
        """Close the stream for the peer. Further calls do nothing."""
        ...


class FdChannel:
    """Two file descriptors, such as a process's standard input and output."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._open = True

    def read(self) -> bytes:
        return os.read(self._read_fd, READ_BYTES)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._write_fd, view) :]

    def close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._write_fd)


class SocketChannel:
    """A connected stream socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def read(self) -> bytes:
        try:
            return self._connection.recv(READ_BYTES)
        except ConnectionResetError:
            return b""

    def write(self, data: bytes) -> None:
        self._connection.sendall(data)

    def close(self) -> None:
        with suppress(OSError):  # The peer already closed the connection.
            self._connection.shutdown(SHUT_RDWR)
        self._connection.close()


class MemoryChannel:
    """One end of a pair within a process. It reads from a queue and passes written bytes to `send`."""

    def __init__(self, incoming: queue.SimpleQueue[bytes], send: Callable[[bytes], object]) -> None:
        self._incoming = incoming
        self._send = send
        self._ended = False

    def read(self) -> bytes:
        if self._ended:
            return b""
        data = self._incoming.get()
        self._ended = not data
        return data

    def write(self, data: bytes) -> None:
        if data:
            self._send(bytes(data))

    def close(self) -> None:
        with suppress(BrokenPipeError):  # The peer already closed its end.
            self._send(b"")


def memory_pair() -> tuple[MemoryChannel, MemoryChannel]:
    """Return two connected channels."""
    there: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    back: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    return MemoryChannel(back, there.put), MemoryChannel(there, back.put)
