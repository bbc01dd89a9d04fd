"""The gate that every call to one provider goes through: how many at once, how soon the next one, and when none.

It must not know what a call is, nor how wide the gate should be (`window`). Its clock is the running event loop's.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Self

from evalsi_kernel.broker.window import Window

CATCH_UP_S = 0.002
"""A start may be late by so much and still the next one be on time, as timers are coarse."""
FIRST_HOLD_S, MAX_HOLD_S = 0.5, 30.0
"""Bounds of the holds where a provider refuses all calls and does not say for how long."""
TOLD_S = 1.0


class Slot:
    """Leave for one call, from `async with pace.slot()`; say of the call `succeeded` or `throttled`, or neither."""

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
        """The provider did the call."""
        self._pace._succeeded(self)

    def throttled(self, retry_after_s: float | None = None) -> None:
        """The provider refused the call since there were too many, and asks to wait so long or does not say."""
        self._pace._throttled(self, retry_after_s)


class Pace:
    """Lets calls to one provider start, in the order in which they came.

    It begins at its widest. A provider that takes all is then used in full from the first round trip on; one that does
    not refuses a part of the first calls, which costs no more than making those again, and shows by how many it does
    take where the window must be. To begin narrow and double would lose a fifth of a job of sixteen round trips.

    When the provider throttles, no call starts until its Retry-After has passed, and the window falls by a third, to
    half or to what was let through, where that is less; once for all refusals of one round trip. It stays there for two
    round trips, doubles up to nine tenths of what the provider seems to take, and creeps on from there, the slower the
    longer a refusal holds all up. Starts are then spread over a round trip, so that a limit on calls per minute is met
    as well as one on calls at once. Where as many are refused when the window is low, that share is tolerated.

    Args:
        max_in_flight: calls at once, at most.
        start: calls at once to begin with; None means `max_in_flight`.
        on_wait: gets a sentence when all calls must wait for longer than a second.
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
        self._barren = 0  # Bursts of refusals since the last success.
        self._barren_since = math.inf

    @property
    def window(self) -> int:
        """How many calls may be in flight now."""
        return self._window.limit

    @property
    def starved_s(self) -> float:
        """For how long every call was refused; 0.0 where the last one was not."""
        return max(0.0, asyncio.get_running_loop().time() - self._barren_since)

    def slot(self) -> Slot:
        """Wait for leave to make a call: `async with pace.slot() as slot`."""
        return Slot(self)

    def open_wide(self) -> None:
        """Let all through at once, from now on: no call will be made any more, and who waits may as well know."""
        self._is_open = True
        self._admit()

    # -- of slots -------------------------------------------------------------------------------------------------

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
                self._leave()  # It was let in, and goes away before it knows.
            raise

    def _leave(self) -> None:
        self.in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Let in from the front of the queue all that may start now, and see to it that the next one will."""
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
            hold_s = 0.0  # A narrower window may be all that it takes.
        self._barren_since = min(self._barren_since, now)
        if self._window.throttled(slot.number, self._starts, self.in_flight, hold_s, now):
            self._barren += 1
        elif retry_after_s is None:
            return
        self._hold_until = max(self._hold_until, now + hold_s)
        if self._hold_until > max(self._told_until, now) + TOLD_S and self._on_wait is not None:
            self._told_until = self._hold_until
            self._on_wait(f"waiting {math.ceil(self._hold_until - now)} s: the provider asks for fewer calls")
