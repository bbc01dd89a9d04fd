"""One session of a served pack: bytes passed on both ways between a connection and a process, until either is over.

It must not know a frame, nor where the process came from.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from evalsi_kernel.supervision.pack_process import PackProcess
from evalsi_kernel.supervision.transports import READ_BYTES

LINGER_S = 5.0
"""How long a client may take to read what it was sent last."""


async def pass_on(
    process: PackProcess,
    first: bytes,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    greeting_s: float,
) -> str:
    """Pass bytes on until the client or the process is gone, and end the process.

    Args:
        process: of the pack.
        first: what the client has said already.
        reader, writer: the connection; it is left open.
        greeting_s: within which the process must answer something: half a greeting holds no process for ever.

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
        # What it said last is on its way to a client that closed its own half only.
        await asyncio.wait((back,), timeout=LINGER_S)
        return f"was not greeted within {greeting_s:g} s, and {how}" if watch.done() else how
    finally:
        for task in (there, back, watch):
            task.cancel()
        await asyncio.gather(there, back, watch, return_exceptions=True)


async def _to_pack(first: bytes, reader: asyncio.StreamReader, process: PackProcess) -> None:
    data = first
    with suppress(OSError):  # Either side may be gone, which is how a session ends.
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
    """Return only if nothing is said in time; after the first word it is the kernel's to watch the pack."""
    try:
        # Up to Python 3.11 `wait_for` forgets that it was cancelled where what it waits for has just come.
        async with asyncio.timeout(greeting_s):
            await spoke.wait()
    except TimeoutError:
        return
    await asyncio.Event().wait()
