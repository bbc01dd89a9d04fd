"""Score the batches of a data set with the pools: read ahead a little, and return the batches complete and in order."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import copy_context

from evalsi_kernel.errors import EvalsiError
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.status import Ending, Status
from evalsi_kernel.supervision.event_loop import finished
from evalsi_kernel.supervision.growth import GrowthTimer
from evalsi_kernel.supervision.pool import Pool

CHUNKS_IN_FLIGHT = 12
GRACE_S = 0.5

OnChunk = Callable[[Chunk], None]


async def score_chunks(
    chunks: Iterator[Chunk], pools: Sequence[Pool], on_chunk: OnChunk, stop: asyncio.Event, *, may_block: bool = True
) -> Ending:
    """Score every batch with every pool; `on_chunk` receives the finished batches in the order of the data.

    Args:
        chunks: the batches.
        pools: started pools.
        on_chunk: called on the event loop.
        stop: set it to end early; requests in flight have half a second to finish, everything else is `cancelled`.
        may_block: whether reading may block; reading then has a thread of its own, which slows fast sources by a third.
    """
    pending: deque[Chunk] = deque()
    ending = Ending(Status.COMPLETE)

    async def feed() -> None:
        nonlocal ending
        error = await _feed(chunks, pools, pending, on_chunk, may_block)
        if error is not None:
            ending = Ending(Status.FAILED, error)

    if await finished(feed(), stop):
        return ending
    await asyncio.gather(*(pool.cancel(GRACE_S) for pool in pools))
    _give_back(pending, on_chunk, "the run was stopped")
    return Ending(Status.PARTIAL)


async def _feed(
    chunks: Iterator[Chunk], pools: Sequence[Pool], pending: deque[Chunk], on_chunk: OnChunk, may_block: bool
) -> EvalsiError | None:
    error: EvalsiError | None = None
    growth_timer = GrowthTimer(lambda: _grow(pools))
    most = max(CHUNKS_IN_FLIGHT, *(2 * pool.limits.max_requests for pool in pools))
    while True:
        try:
            chunk = await _awaited(chunks) if may_block else next(chunks, None)
        except EvalsiError as refused:
            error = refused
            break
        if chunk is None:
            break
        for pool in pools:
            chunk.expect(pool.sessions)
        pending.append(chunk)
        if chunk.refusal is not None:
            chunk.answer_all(("error", chunk.refusal.to_body()))
        for pool in pools if chunk.refusal is None else ():
            await pool.submit(chunk)
        # Send this batch to the packs, and take their results, before reading the next one.
        await asyncio.sleep(0)
        while pending and (len(pending) >= most or pending[0].unanswered == 0):
            await _first(pending, on_chunk, growth_timer)
    while pending:
        await _first(pending, on_chunk, growth_timer)
    return error


async def _awaited(chunks: Iterator[Chunk]) -> Chunk | None:
    """Read the next batch in a daemon thread, because a source may block forever."""
    read: Future[Chunk | None] = Future()
    read.set_running_or_notify_cancel()

    def work() -> None:
        try:
            read.set_result(next(chunks, None))
        except BaseException as error:  # noqa: BLE001 -- raised again where the batch is awaited.
            read.set_exception(error)

    threading.Thread(target=copy_context().run, args=(work,), name="evalsi-read", daemon=True).start()
    return await asyncio.wrap_future(read)


def _grow(pools: Sequence[Pool]) -> None:
    for pool in pools:
        pool.grow()


async def _first(pending: deque[Chunk], on_chunk: OnChunk, growth_timer: GrowthTimer) -> None:
    """Wait for the oldest batch and return it; it stays in the queue until then, so that a stop finds it there."""
    chunk = pending[0]
    if chunk.unanswered:
        answered = asyncio.Event()
        chunk.when_answered = answered.set
        with growth_timer:
            await answered.wait()
    pending.popleft()
    on_chunk(chunk)


def _give_back(pending: deque[Chunk], on_chunk: OnChunk, reason: str) -> None:
    while pending:
        chunk = pending.popleft()
        chunk.when_answered = None
        chunk.cancel_unanswered(reason)
        on_chunk(chunk)
