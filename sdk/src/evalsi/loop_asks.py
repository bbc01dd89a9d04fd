"""Pass answers from the reader thread to the waiting tasks of an event loop.

One wake-up of the loop delivers all answers that have arrived, because each wake-up costs a system call. Imported only
with an event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Answer = dict[str, Any] | BaseException


class LoopAsks:
    """The pending answers of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._come: deque[tuple[asyncio.Future[dict[str, Any]], Answer]] = deque()
        self._is_waking = False

    def bring(self, future: asyncio.Future[dict[str, Any]], answer: Answer) -> None:
        """Schedule setting a future's result in its loop. May be called from any thread."""
        self._come.append((future, answer))
        if not self._is_waking:
            self._is_waking = True
            with suppress(RuntimeError):  # The loop is closed, so no task is waiting.
                self.loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        # Reset first, so that an answer which arrives from now on wakes the loop again.
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
    """One pending answer, with the interface of `concurrent.futures.Future`. A task awaits its `future`.

    Create it in the loop's thread.
    """

    __slots__ = ("_asks", "_on_done", "future")

    def __init__(self, asks: LoopAsks) -> None:
        self.future: asyncio.Future[dict[str, Any]] = asks.loop.create_future()
        self._asks = asks
        self._on_done: Callable[[LoopAsk], object] | None = None
        self.future.add_done_callback(self._done)

    def cancelled(self) -> bool:
        """Return whether the task stopped waiting."""
        return self.future.cancelled()

    def set_running_or_notify_cancel(self) -> bool:
        """Return whether an answer is still expected."""
        return not self.future.done()

    def set_result(self, body: dict[str, Any]) -> None:
        """Deliver the answer."""
        self._asks.bring(self.future, body)

    def set_exception(self, error: BaseException) -> None:
        """Deliver an error."""
        self._asks.bring(self.future, error)

    def add_done_callback(self, callback: Callable[[LoopAsk], object]) -> None:
        """Set the only callback for completion. It may be called twice if the future is cancelled meanwhile."""
        self._on_done = callback
        if self.future.cancelled():
            callback(self)

    def _done(self, future: asyncio.Future[dict[str, Any]]) -> None:
        if not future.cancelled():
            future.exception()  # Mark it as retrieved: the evaluator may never await the answer.
        if self._on_done is not None:
            self._on_done(self)
