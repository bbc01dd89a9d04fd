"""Who may be in flight at once: anyone, and fewer where one of several is to be found out that breaks them all.

It must not know what is in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Turns:
    """Lets calls in, as many as each of them bears beside it."""

    def __init__(self) -> None:
        self._limits: list[int] = []
        self._unlimited = 0
        self._limited_waiting = 0
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def taken(self, most: int | None) -> AsyncIterator[None]:
        """Be within until the block is left, with at most so many together; None bears any, and goes last."""
        if most is None:
            await self._until(lambda: not self._limits and not self._limited_waiting)
            self._unlimited += 1
        else:
            await self._limited(most)
        try:
            yield
        finally:
            if most is None:
                self._unlimited -= 1
            else:
                self._limits.remove(most)
            self._changed()

    async def _limited(self, most: int) -> None:
        self._limited_waiting += 1
        try:
            await self._until(lambda: self._unlimited + len(self._limits) < min([most, *self._limits]))
            self._limits.append(most)
        finally:
            self._limited_waiting -= 1
            self._changed()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            changed = asyncio.get_running_loop().create_future()
            self._waiting.append(changed)
            await changed

    def _changed(self) -> None:
        for one in self._waiting:
            if not one.done():
                one.set_result(None)
        self._waiting.clear()
