"""Asynchronous evaluators, well and badly behaved. Run in a process of their own."""

from __future__ import annotations

import asyncio

from evalsi import Record, evaluator
from evalsi.context import Context

flying = 0
told = asyncio.Event()


@evaluator
async def in_flight(record: Record) -> int:
    """How many records were in flight at most while this one was."""
    global flying  # noqa: PLW0603 -- what is tested is what this process shares.
    flying += 1
    most = flying
    for _ in range(5):
        await asyncio.sleep(0.005)
        most = max(most, flying)
    flying -= 1
    return most


@evaluator
async def hangs_on_bad(record: Record) -> bool:
    """Waits for ever on one output."""
    if record.output.as_text() == "bad":
        await asyncio.Event().wait()
    return True


@evaluator
async def blocks_on_bad(record: Record) -> bool:
    """Holds up its event loop, and so all others, on one output."""
    while record.output.as_text() == "bad":
        pass
    return True


@evaluator(asks=("judge",))
async def blocks_once_another_was_told(record: Record, ctx: Context) -> bool:
    """Asks the judge; on one output holds up the loop as soon as another record has its answer, and no turn since."""
    if record.output.as_text() == "bad":
        await told.wait()
        while True:
            pass
    await ctx.ask("judge.ask", {})
    told.set()
    for _ in range(3):
        await asyncio.sleep(0)
    return True


@evaluator
async def raises_on_bad(record: Record) -> bool:
    """Raises, cancels itself or leaves, as the output says."""
    await asyncio.sleep(0)
    text = record.output.as_text()
    if text == "raise":
        raise LookupError("nothing there")
    if text == "cancel":
        raise asyncio.CancelledError
    if text == "exit":
        raise SystemExit(3)
    return True
