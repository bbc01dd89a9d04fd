"""Limit the rate of calls to one provider: how many at once, how soon the next one, and pauses after rejections."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Self

from evalsi_kernel.broker.adaptive_limit import AdaptiveLimit

CATCH_UP_S = 0.002
"""Tolerated delay of a start before it shifts the next one, because timers are coarse."""
FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 30.0
"""Shortest and longest pause where a provider rejects all calls without a Retry-After."""
NOTIFY_AFTER_S = 1.0


class Slot:
    """Permission for one call, from `async with limiter.slot()`. Report `succeeded` or `throttled`, or neither."""

    __slots__ = ("_limiter", "number", "started_at")

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter
        self.number = 0
        self.started_at = 0.0

    async def __aenter__(self) -> Self:
        self.number = await self._limiter._enter()
        self.started_at = asyncio.get_running_loop().time()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._limiter._leave()

    def succeeded(self) -> None:
        """Record that the provider accepted the call."""
        self._limiter._succeeded(self)

    def throttled(self, retry_after_s: float | None = None) -> None:
        """Record that the provider rejected the call (429), with its Retry-After in seconds, if any."""
        self._limiter._throttled(self, retry_after_s)


class RateLimiter:
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
        concurrency: maximum number of concurrent calls.
        start: initial number of concurrent calls; None means `concurrency`.
        on_wait: receives a message when all calls must wait for longer than a second.
    """

    def __init__(
        self, concurrency: int, start: int | None = None, on_wait: Callable[[str], None] | None = None
    ) -> None:
        self.in_flight = 0
        self._on_wait = on_wait
        self._adaptive = AdaptiveLimit(concurrency, min(concurrency, start or concurrency))
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._starts = 0
        self._next_start = self._paused_until = self._notified_until = -math.inf
        self._is_released = False
        self._bursts = 0  # Bursts of rejections since the last success.
        self._rejected_since = math.inf

    @property
    def limit(self) -> int:
        """How many calls may be in progress now."""
        return self._adaptive.limit

    @property
    def rejected_for_s(self) -> float:
        """For how many seconds every call has been rejected; 0.0 where the last one was not."""
        return max(0.0, asyncio.get_running_loop().time() - self._rejected_since)

    def slot(self) -> Slot:
        """Return a context manager that waits until a call may start: `async with limiter.slot() as slot`."""
        return Slot(self)

    def release_all(self) -> None:
        """Release all waiting and future calls at once; the breaker has tripped, so each raises its error."""
        self._is_released = True
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
            if not self._is_released:
                if self.in_flight >= self._adaptive.limit:
                    return
                ready = max(self._paused_until, self._next_start)
                if ready > now:
                    self._admit_at(ready)
                    return
            self._starts += 1
            self.in_flight += 1
            self._next_start = max(self._next_start, now - CATCH_UP_S) + self._adaptive.gap_s
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
        self._bursts, self._rejected_since = 0, math.inf
        self._adaptive.succeeded(slot.number, self.in_flight, now - slot.started_at, now)

    def _throttled(self, slot: Slot, retry_after_s: float | None) -> None:
        now = asyncio.get_running_loop().time()
        if retry_after_s is not None:
            pause_s = max(0.0, retry_after_s)
        elif self._bursts:
            pause_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(self._bursts - 1, 10))
        else:
            pause_s = 0.0  # Lower concurrency alone may be enough.
        self._rejected_since = min(self._rejected_since, now)
        if self._adaptive.throttled(slot.number, self._starts, self.in_flight, pause_s, now):
            self._bursts += 1
        elif retry_after_s is None:
            return
        self._paused_until = max(self._paused_until, now + pause_s)
        if self._paused_until > max(self._notified_until, now) + NOTIFY_AFTER_S and self._on_wait is not None:
            self._notified_until = self._paused_until
            self._on_wait(f"waiting {math.ceil(self._paused_until - now)} s: the provider limits the rate of calls")
