"""Run asynchronous evaluators in an event loop on a dedicated thread, with many records in progress.

Imported only if a pack has an async evaluator.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from evalsi.item_buffer import FLUSH_AFTER_S, Item, ItemBuffer
from evalsi.opened import Opened
from evalsi.progress import HOLDER, Holder, Steps, write
from evalsi.record import Record
from evalsi.scoring import SLOW_S, Running, Sessions, failed, score_one, score_one_async, timed

Done = Callable[[bool, BaseException | None], None]
CLOSE_S = 2.0


class AsyncScorer:
    """Score the records of several requests concurrently.

    Args:
        concurrency: maximum number of records in progress, over all requests.
        running: registry of the records in progress.
        is_cancelled: returns whether a request was cancelled.
    """

    def __init__(self, concurrency: int, running: Running, is_cancelled: Callable[[int], bool]) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(self._make_task)
        self._free = asyncio.Semaphore(concurrency)
        self._turn = asyncio.Lock()
        self._running = running
        self._is_cancelled = is_cancelled
        self._scoring: dict[asyncio.Task[Any] | None, tuple[int, int, int]] = {}
        running.holding = self._holding
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._to_flush: set[int] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="evalsi-async", daemon=True)
        self._thread.start()

    def submit(
        self, request_id: int, records: Sequence[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer, done: Done
    ) -> None:
        """Start scoring a request. `done(finished, error)` is called once, from the loop's thread."""
        self._loop.call_soon_threadsafe(self._start, request_id, records, sessions, buffer, done)

    def cancel(self, request_id: int) -> None:
        """Stop a running request. Its `done` is called with `finished=False`."""
        with suppress(RuntimeError):  # The loop is closed, so no request is running.
            self._loop.call_soon_threadsafe(self._cancel, request_id)

    def close(self) -> None:
        """Cancel all requests, which answers them, and stop the thread. Takes at most about 2 × `CLOSE_S`."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result(CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=CLOSE_S)
        if not self._thread.is_alive():
            self._loop.close()

    def _start(
        self, request_id: int, records: Sequence[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer, done: Done
    ) -> None:
        # The cancellation may have arrived before the task existed.
        if self._is_cancelled(request_id):
            done(False, None)
            return
        task = self._loop.create_task(self._score_all(request_id, records, sessions, buffer))
        self._tasks[request_id] = task

        def finish(finished: asyncio.Task[None]) -> None:
            del self._tasks[request_id]
            if finished.cancelled():
                done(False, None)
            else:
                done(finished.exception() is None, finished.exception())

        task.add_done_callback(finish)

    async def _score_all(
        self, request_id: int, records: Sequence[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer
    ) -> None:
        # Requests start one after the other. Interleaved, each would send its outcomes in frames of one.
        async with asyncio.TaskGroup() as group, self._turn:
            for index, wire in enumerate(records):
                await self._free.acquire()
                HOLDER.set(Holder())
                record = group.create_task(self._score_record(request_id, index, wire, sessions, buffer))
                # A callback, because a task that is cancelled before it starts runs no code of its own.
                record.add_done_callback(lambda _: self._free.release())

    async def _score_record(
        self, request_id: int, index: int, wire: dict[str, Any], sessions: Sessions, buffer: ItemBuffer
    ) -> None:
        record, task = Record.from_wire(wire), asyncio.current_task()
        holder = HOLDER.get()
        for session, opened in sessions:
            key = self._scoring[task] = (request_id, index, session)
            if holder is not None:
                holder.key = key
                write(self._running.cells, key)
            since = self._running.asynchronous[key] = monotonic()
            try:
                item = await self._score_one(session, index, opened, record)
                took_s = monotonic() - since
                if buffer.takes_durations and (opened.is_async or took_s >= SLOW_S):
                    item = timed(item, took_s)
                buffer.add_many([item])
                self._flush_soon(request_id, buffer)
            finally:
                del self._running.asynchronous[key], self._scoring[task]

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, inner: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **more: Any
    ) -> asyncio.Task[Any]:
        """Create a task. A task that scores a record, and every task it starts, marks the record before each step."""
        holder = HOLDER.get()
        if holder is not None and isinstance(inner, Coroutine):
            inner = Steps(inner, holder, self._running.cells)
        return asyncio.Task(inner, loop=loop, **more)

    def _holding(self) -> tuple[int, int, int] | None:
        """Return the record of the task that the loop is executing now. Called from another thread."""
        return self._scoring.get(asyncio.current_task(self._loop))

    async def _score_one(self, session: int, index: int, opened: Opened, record: Record) -> Item:
        if not opened.is_async:
            return score_one(session, index, opened, record)
        try:
            return await score_one_async(session, index, opened, record)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # The task was not cancelled: the evaluator raised a CancelledError itself.
            return failed(session, index, opened, error)

    def _flush_soon(self, request_id: int, buffer: ItemBuffer) -> None:
        """Schedule a flush, because the next outcome may take long."""
        if request_id not in self._to_flush:
            self._to_flush.add(request_id)
            self._loop.call_later(FLUSH_AFTER_S, self._flush, request_id, buffer)

    def _flush(self, request_id: int, buffer: ItemBuffer) -> None:
        self._to_flush.discard(request_id)
        buffer.flush()

    def _cancel(self, request_id: int) -> None:
        task = self._tasks.get(request_id)
        if task is not None:
            task.cancel()

    async def _cancel_all(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
