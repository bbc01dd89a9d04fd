"""Limit the rate of calls to one provider: how many at once, how soon the next one, and pauses after rejections."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Self

from evalsi_kernel.broker.window import Window

CATCH_UP_S = 0.002
"""Tolerated delay of a start before it shifts the next one, because timers are coarse."""
FIRST_HOLD_S, MAX_HOLD_S = 0.5, 30.0
"""Shortest and longest pause where a provider rejects all calls without a Retry-After."""
TOLD_S = 1.0


class Slot:
    """Permission for one call, from `async with pace.slot()`. Report `succeeded` or `throttled`, or neither."""

    __slots__ = ("_pace", "number", "started_at")

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.number = 0
        self.started_at = 0.0

    async def __aenter__(self) -> Self:
        self.number = await self._pace._enter()
        self.started_at = asyncio.get_running_loop().time()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._pace._leave()

    def succeeded(self) -> None:
        """Record that the provider accepted the call."""
        self._pace._succeeded(self)

    def throttled(self, retry_after_s: float | None = None) -> None:
        """Record that the provider rejected the call (429), with its Retry-After in seconds, if any."""
        self._pace._throttled(self, retry_after_s)


class Pace:
    """Starts calls to one provider in order of arrival, adapting to the limits of the provider.

    It starts at its maximum. A provider without a limit is then used in full from the first round trip on; one with a
    limit rejects some of the first calls, which costs no more than repeating them and shows how many it accepts. Slow
    start (start low and double) would cost a fifth of the time of a job of sixteen round trips.

    After a rejection no call starts until its Retry-After has passed, and the concurrency falls once for all rejections
    of one round trip: by a third, to half, or to the number of accepted calls if that is less. It stays there for two
    round trips, doubles up to nine tenths of what the provider seems to accept, and then grows slowly; the longer a
    rejection pauses all calls, the slower. Starts are then spread over a round trip, so that a limit on calls per
    minute is met as well as one on concurrent calls. A share of rejections that does not fall with the concurrency is
    tolerated.

    Args:
        max_in_flight: maximum number of concurrent calls.
        start: initial number of concurrent calls; None means `max_in_flight`.
        on_wait: receives a message when all calls must wait for longer than a second.
    """

    def __init__(
        self, max_in_flight: int, start: int | None = None, on_wait: Callable[[str], None] | None = None
    ) -> None:
        self.in_flight = 0
        self._on_wait = on_wait
        self._window = Window(max_in_flight, min(max_in_flight, start or max_in_flight))
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._starts = 0
        self._next_start = self._hold_until = self._told_until = -math.inf
        self._is_open = False
        self._barren = 0  # Bursts of rejections since the last success.
        self._barren_since = math.inf

    @property
    def window(self) -> int:
        """How many calls may be in progress now."""
        return self._window.limit

    @property
    def starved_s(self) -> float:
        """For how many seconds every call has been rejected; 0.0 where the last one was not."""
        return max(0.0, asyncio.get_running_loop().time() - self._barren_since)

    def slot(self) -> Slot:
        """Return a context manager that waits until a call may start: `async with pace.slot() as slot`."""
        return Slot(self)

    def open_wide(self) -> None:
        """Release all waiting and future calls at once; the breaker has tripped, so each raises its error."""
        self._is_open = True
        self._admit()

    # -- slots -----------------------------------------------------------------------------------------------------

    async def _enter(self) -> int:
        leave: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(leave)
        self._admit()
        if leave.done():
            return leave.result()
        try:
            return await leave
        except asyncio.CancelledError:
            if not leave.cancelled():
                self._leave()  # Admitted, then cancelled before it resumed.
            raise

    def _leave(self) -> None:
        self.in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Start the waiting calls that may start now, and schedule the next one."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._waiting:
            if self._waiting[0].done():  # Cancelled.
                self._waiting.popleft()
                continue
            if not self._is_open:
                if self.in_flight >= self._window.limit:
                    return
                ready = max(self._hold_until, self._next_start)
                if ready > now:
                    self._admit_at(ready)
                    return
            self._starts += 1
            self.in_flight += 1
            self._next_start = max(self._next_start, now - CATCH_UP_S) + self._window.gap_s
            self._waiting.popleft().set_result(self._starts)

    def _admit_at(self, when: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= when and not self._timer.cancelled():
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._admit()

    def _succeeded(self, slot: Slot) -> None:
        now = asyncio.get_running_loop().time()
        self._barren, self._barren_since = 0, math.inf
        self._window.succeeded(slot.number, self.in_flight, now - slot.started_at, now)

    def _throttled(self, slot: Slot, retry_after_s: float | None) -> None:
        now = asyncio.get_running_loop().time()
        if retry_after_s is not None:
            hold_s = max(0.0, retry_after_s)
        elif self._barren:
            hold_s = min(MAX_HOLD_S, FIRST_HOLD_S * 2.0 ** min(self._barren - 1, 10))
        else:
            hold_s = 0.0  # Lower concurrency alone may be enough.
        self._barren_since = min(self._barren_since, now)
        if self._window.throttled(slot.number, self._starts, self.in_flight, hold_s, now):
            self._barren += 1
        elif retry_after_s is None:
            return
        self._hold_until = max(self._hold_until, now + hold_s)
        if self._hold_until > max(self._told_until, now) + TOLD_S and self._on_wait is not None:
            self._told_until = self._hold_until
            self._on_wait(f"waiting {math.ceil(self._hold_until - now)} s: the provider limits the rate of calls")
