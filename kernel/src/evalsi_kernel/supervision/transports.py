"""Asynchronous byte streams to a pack: pipes of a process, a socket, or memory."""

from __future__ import annotations

import asyncio
import queue
from typing import Protocol

from evalsi_protocol.channels import Channel, MemoryChannel

READ_BYTES = 256 * 1024
WENT_AWAY = "went away"


class Transport(Protocol):
    """A duplex byte stream; `ending` says how it ended, as the end of a sentence about the pack."""

    ending: str

    async def read(self) -> bytes:
        """Return at least one byte; b"" when the pack is gone."""

    def write(self, data: bytes) -> None:
        """Queue bytes to be sent; never blocks."""

    async def drain(self) -> None:
        """Wait until few bytes are queued; raise `ConnectionError` when the pack is gone."""

    def close_writing(self) -> None:
        """Close the pack's input."""


class StreamTransport:
    """An asyncio reader and writer: the pipes of a process, or a socket."""

    ending = WENT_AWAY

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(READ_BYTES)
        except ConnectionError:
            return b""

    def write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    def close_writing(self) -> None:
        if not self._writer.is_closing():
            self._writer.close()


class MemoryTransport:
    """Bytes to and from a thread of this process; pass `pack_channel` to the pack's host loop."""

    ending = WENT_AWAY

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._ended = False
        self.pack_channel: Channel = MemoryChannel(self._outgoing, self._from_pack)

    async def read(self) -> bytes:
        if self._ended:
            return b""
        data = await self._incoming.get()
        self._ended = not data
        return data

    def write(self, data: bytes) -> None:
        if data:
            self._outgoing.put(data)

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close_writing(self) -> None:
        self._outgoing.put(b"")

    def _from_pack(self, data: bytes) -> None:
        try:
            self._loop.call_soon_threadsafe(self._incoming.put_nowait, data)
        except RuntimeError as error:
            raise BrokenPipeError("the kernel's loop is closed") from error
