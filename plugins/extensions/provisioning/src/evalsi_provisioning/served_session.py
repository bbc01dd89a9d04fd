"""Relay bytes between a client's connection and a pack process until either ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from evalsi_kernel.supervision.pack_process import PackProcess
from evalsi_kernel.supervision.transports import READ_BYTES

LINGER_S = 5.0
"""How long a client may take to read the last bytes."""


async def pass_on(
    process: PackProcess,
    first: bytes,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    greeting_s: float,
) -> str:
    """Relay bytes until the client disconnects or the process ends, then end the process.

    Args:
        process: process of the pack.
        first: bytes that the client has already sent.
        reader, writer: the connection; it is not closed.
        greeting_s: timeout for the process's first byte, so that an incomplete greeting does not occupy it forever.

    Returns:
        How the process ended, as the end of a sentence about it.
    """
    spoke = asyncio.Event()
    there = asyncio.create_task(_to_pack(first, reader, process))
    back = asyncio.create_task(_from_pack(process, writer, spoke))
    watch = asyncio.create_task(_silent(spoke, greeting_s))
    try:
        await asyncio.wait((there, back, watch), return_when=asyncio.FIRST_COMPLETED)
        process.transport.close_writing()
        how = await process.end_of_life()
        # A client that has only closed its sending side still receives the last bytes.
        await asyncio.wait((back,), timeout=LINGER_S)
        return f"was not greeted within {greeting_s:g} s, and {how}" if watch.done() else how
    finally:
        for task in (there, back, watch):
            task.cancel()
        await asyncio.gather(there, back, watch, return_exceptions=True)


async def _to_pack(first: bytes, reader: asyncio.StreamReader, process: PackProcess) -> None:
    data = first
    with suppress(OSError):  # A closed connection or process is the normal end of a session.
        while data:
            process.transport.write(data)
            await process.transport.drain()
            data = await reader.read(READ_BYTES)


async def _from_pack(process: PackProcess, writer: asyncio.StreamWriter, spoke: asyncio.Event) -> None:
    with suppress(OSError):
        while data := await process.transport.read():
            spoke.set()
            writer.write(data)
            await writer.drain()


async def _silent(spoke: asyncio.Event, greeting_s: float) -> None:
    """Return if the pack sends nothing within `greeting_s`; otherwise never, as the kernel then watches the pack."""
    try:
        # Up to Python 3.11, `wait_for` loses a cancellation that arrives together with the result.
        async with asyncio.timeout(greeting_s):
            await spoke.wait()
    except TimeoutError:
        return
    await asyncio.Event().wait()
