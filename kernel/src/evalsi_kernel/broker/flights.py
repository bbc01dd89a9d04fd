"""Share calls in flight: equal requests wait for one call. Nothing is kept once a call has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class _Flight(Generic[T]):
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


class Flights(Generic[K, T]):
    """The calls in progress of one event loop, by key."""

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[T]] = {}

    def __len__(self) -> int:
        return len(self._flights)

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
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight()
            flight.task = asyncio.create_task(self._fly(key, flight, make))
            flight.task.add_done_callback(flight.end)
        flight.waiting += 1
        try:
            await flight.ended.wait()
        except asyncio.CancelledError as left:
            if flight.waiting == 1 and not flight.task.done():
                self._forget(key, flight)
                flight.task.cancel()
                await flight.ended.wait()
                left.__cause__ = None if flight.task.cancelled() else flight.task.exception()
            raise
        finally:
            flight.waiting -= 1
        result = flight.task.result()
        is_anothers, flight.is_taken = flight.is_taken, True
        return result, is_anothers

    async def _fly(self, key: K, flight: _Flight[T], make: Callable[[], Awaitable[T]]) -> T:
        try:
            return await make()
        finally:
            self._forget(key, flight)

    def _forget(self, key: K, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
