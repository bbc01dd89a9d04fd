"""Share calls in call: equal requests wait for one call. Nothing is kept once a call has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class _SharedCall(Generic[T]):
    __slots__ = ("ended", "is_taken", "task", "waiting")

    task: asyncio.Task[T]

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.waiting = 0
        self.is_taken = False

    def end(self, task: asyncio.Task[T]) -> None:
        # Retrieve the exception, or the event loop reports it as unhandled when all waiters were cancelled.
        _ = task.cancelled() or task.exception()
        self.ended.set()


class SharedCalls(Generic[K, T]):
    """The calls in progress of one event loop, by key."""

    def __init__(self) -> None:
        self._calls: dict[K, _SharedCall[T]] = {}

    def __len__(self) -> int:
        return len(self._calls)

    async def share(self, key: K, make: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """Make a call, or wait for the one in progress under the same key.

        A cancelled waiter leaves the call to the others. When the last waiter is cancelled, the call is cancelled too,
        and its failure becomes the cause of the `CancelledError`. An exception reaches all waiters and is not kept.

        Args:
            key: identifies the request.
            make: makes the call; used where none is in progress.

        Returns:
            The result, and whether the call is booked on another waiter. Exactly one of the waiters gets False, even if
            the one that started the call was cancelled, so that each call is booked once.
        """
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _SharedCall()
            call.task = asyncio.create_task(self._run(key, call, make))
            call.task.add_done_callback(call.end)
        call.waiting += 1
        try:
            await call.ended.wait()
        except asyncio.CancelledError as left:
            if call.waiting == 1 and not call.task.done():
                self._forget(key, call)
                call.task.cancel()
                await call.ended.wait()
                left.__cause__ = None if call.task.cancelled() else call.task.exception()
            raise
        finally:
            call.waiting -= 1
        result = call.task.result()
        is_anothers, call.is_taken = call.is_taken, True
        return result, is_anothers

    async def _run(self, key: K, call: _SharedCall[T], make: Callable[[], Awaitable[T]]) -> T:
        try:
            return await make()
        finally:
            self._forget(key, call)

    def _forget(self, key: K, call: _SharedCall[T]) -> None:
        if self._calls.get(key) is call:
            del self._calls[key]
