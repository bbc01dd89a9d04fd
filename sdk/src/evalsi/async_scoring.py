"""Asynchronous evaluators: one event loop in a thread of its own, many records in flight.

Loaded only when a pack has an async evaluator. It must not know frames.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from evalsi.item_buffer import ItemBuffer
from evalsi.record import Record
from evalsi.scoring import Sessions, score_one, score_one_async

Done = Callable[[bool, BaseException | None], None]


class AsyncScorer:
    """Scores requests concurrently, at most `concurrency` records of all requests at a time."""

    def __init__(self, concurrency: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._free = asyncio.Semaphore(concurrency)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="evalsi-async", daemon=True)
        self._thread.start()

    def submit(
        self, request_id: int, records: Sequence[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer, done: Done
    ) -> None:
        """Start scoring; `done(finished, error)` is called once, from the loop's thread."""
        self._loop.call_soon_threadsafe(self._start, request_id, records, sessions, buffer, done)

    def cancel(self, request_id: int) -> None:
        """Stop a request that runs; its `done` is called with finished=False."""
        self._loop.call_soon_threadsafe(self._cancel, request_id)

    def close(self) -> None:
        """Cancel what runs and end the thread."""
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(timeout=2)

    def _start(
        self, request_id: int, records: Sequence[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer, done: Done
    ) -> None:
        task = self._loop.create_task(self._score_all(records, sessions, buffer))
        self._tasks[request_id] = task

        def finish(finished: asyncio.Task[None]) -> None:
            del self._tasks[request_id]
            if finished.cancelled():
                done(False, None)
            else:
                done(finished.exception() is None, finished.exception())

        task.add_done_callback(finish)

    async def _score_all(self, records: Sequence[dict[str, Any]], sessions: Sessions, buffer: ItemBuffer) -> None:
        async with asyncio.TaskGroup() as group:
            for index, wire in enumerate(records):
                await self._free.acquire()
                group.create_task(self._score_record(index, Record.from_wire(wire), sessions, buffer))

    async def _score_record(self, index: int, record: Record, sessions: Sessions, buffer: ItemBuffer) -> None:
        try:
            for session, opened in sessions:
                score = score_one_async(session, index, opened, record) if opened.is_async else None
                buffer.add_many([await score if score is not None else score_one(session, index, opened, record)])
        finally:
            self._free.release()

    def _cancel(self, request_id: int) -> None:
        task = self._tasks.get(request_id)
        if task is not None:
            task.cancel()

    def _stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        self._loop.call_soon(self._loop.stop)
