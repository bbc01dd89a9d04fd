"""Calls in flight, by what they ask: equal asks share one call.

It must not know what is asked, nor what comes back; nothing is kept once a call has ended.
"""

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
        # An exception that all waiters left behind is no news: without a look the event loop would report it.
        _ = task.cancelled() or task.exception()
        self.ended.set()


class Flights(Generic[K, T]):
    """The calls in flight of one event loop."""

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[T]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def share(self, key: K, make: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """Make a call, or wait for the one in flight under the same key.

        One who is cancelled leaves the call to the others; when nobody is left the call is cancelled, and the last one
        leaves when it has ended, with how it failed as the cause. An exception reaches all who wait and is forgotten.

        Args:
            key: what is asked.
            make: makes the call; used where none is in flight.

        Returns:
            What the call gave, and whether it is another's. Of those who get one result exactly one gets False, also
            where the one who began the call has gone: so each call is paid for once.
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
