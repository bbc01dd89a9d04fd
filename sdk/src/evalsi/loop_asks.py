"""Answers on their way from the thread that reads to the tasks of an event loop that wait for them.

One wake of the loop brings all that have come by then, where a wake for each would cost a system call for each. Loaded
only with an event loop. It must not know what is asked, nor frames.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Answer = dict[str, Any] | BaseException


class LoopAsks:
    """The asks of one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._come: deque[tuple[asyncio.Future[dict[str, Any]], Answer]] = deque()
        self._is_waking = False

    def bring(self, future: asyncio.Future[dict[str, Any]], answer: Answer) -> None:
        """Settle a future in its loop, soon; may be called from any thread."""
        self._come.append((future, answer))
        if not self._is_waking:
            self._is_waking = True
            with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
                self.loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        # First, so that an answer which comes from now on wakes the loop again.
        self._is_waking = False
        while self._come:
            future, answer = self._come.popleft()
            if future.done():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)


class LoopAsk:
    """Stands for one answer, as a `concurrent.futures.Future` does; a task awaits its `future`.

    Make it in the loop's thread.
    """

    __slots__ = ("_asks", "_on_done", "future")

    def __init__(self, asks: LoopAsks) -> None:
        self.future: asyncio.Future[dict[str, Any]] = asks.loop.create_future()
        self._asks = asks
        self._on_done: Callable[[LoopAsk], object] | None = None
        self.future.add_done_callback(self._done)

    def cancelled(self) -> bool:
        """Whether the task no longer waits."""
        return self.future.cancelled()

    def set_running_or_notify_cancel(self) -> bool:
        """Whether an answer is still wanted."""
        return not self.future.done()

    def set_result(self, body: dict[str, Any]) -> None:
        """Bring the answer."""
        self._asks.bring(self.future, body)

    def set_exception(self, error: BaseException) -> None:
        """Bring what went wrong."""
        self._asks.bring(self.future, error)

    def add_done_callback(self, callback: Callable[[LoopAsk], object]) -> None:
        """Call it once the future is done; there is one at most. One that is cancelled meanwhile may be told twice."""
        self._on_done = callback
        if self.future.cancelled():
            callback(self)

    def _done(self, future: asyncio.Future[dict[str, Any]]) -> None:
        if not future.cancelled():
            future.exception()  # Seen, also where the evaluator that asked never awaits the answer.
        if self._on_done is not None:
            self._on_done(self)
