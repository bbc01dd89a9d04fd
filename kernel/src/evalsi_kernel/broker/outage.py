"""The pause of all calls to a model or target while it serves no call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from evalsi_kernel.broker.connector import ProviderError

SIGNS = frozenset(
    {"provider.connection", "provider.failed", "provider.timeout", "provider.bad_reply", "target.timeout"}
)
"""Codes of failures that an outage causes. A rejection (429) is the rate limiter's business."""


class OutagePolicy(NamedTuple):
    """When calls pause, and for how long.

    Args:
        calls: number of different calls that must have failed in a row.
        tries: number of tries that must have failed in a row.
        first_wait_s: wait before the first try of a pause; doubles from try to try.
        longest_wait_s: maximum wait between two tries.
        limit_s: maximum length of a pause; all calls are stopped after it.
    """

    calls: int = 2
    tries: int = 8
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    limit_s: float = 300.0


DEFAULT_POLICY = OutagePolicy()


class Outage:
    """Distinguishes an outage from failures of single calls, and lets one call at a time through while it lasts.

    A failed try counts towards an outage only if no call has succeeded since its call first failed: a call that fails
    while others succeed has a fault of its own.

    Args:
        policy: when calls pause.
        on_note: receives a message for the user when the first try of a pause fails, and when the pause ends.

    Attributes:
        successes: number of calls that have succeeded.
        is_paused: whether calls wait now.
        probes: number of failed tries of the current pause.
    """

    def __init__(self, policy: OutagePolicy, on_note: Callable[[str], None] | None = None) -> None:
        self.successes = 0
        self.is_paused = False
        self.probes = 0
        self._policy = policy
        self._on_note = on_note
        self._calls: set[int] = set()
        self._tries = 0
        self._began_at = self._next_at = 0.0
        self._wait_s = 0.0
        self._is_announced = False
        self._turn = asyncio.Lock()

    def succeeded(self) -> None:
        """Record a successful call; it ends a pause."""
        self.successes += 1
        self._calls.clear()
        self._tries = 0
        if self.is_paused:
            self.is_paused = False
            if self._is_announced:
                self._tell(f"calls succeed again after {self._lasted_s():.0f} s; resuming")

    def failed(self, error: ProviderError, call: int) -> float | None:
        """Record a failed try.

        Args:
            error: how it failed.
            call: identifies the call among those in progress.

        Returns:
            The seconds since the outage began, where the pause has reached its limit; else None.
        """
        if error.error.code not in SIGNS or error.error.retry == "no":
            return None
        self._calls.add(call)
        self._tries += 1
        if self.is_paused:
            return self._go_on(error)
        if len(self._calls) >= self._policy.calls and self._tries >= self._policy.tries:
            now = asyncio.get_running_loop().time()
            self.is_paused, self._is_announced, self.probes = True, False, 0
            self._began_at, self._wait_s = now, self._policy.first_wait_s
            self._next_at = now + max(self._wait_s, error.retry_after_s or 0.0)
        return None

    def _go_on(self, error: ProviderError) -> float | None:
        """Double the wait before the next try; return the length of the outage once the limit is reached."""
        now, policy = asyncio.get_running_loop().time(), self._policy
        if now < self._next_at:
            return None  # It was in flight when the pause began.
        self.probes += 1
        self._wait_s = min(policy.longest_wait_s, 2 * self._wait_s)
        left_s = policy.limit_s - self._lasted_s()
        if left_s <= 0:
            return self._lasted_s()
        if not self._is_announced:
            self._is_announced = True
            message = error.error.message.rstrip(".")
            self._tell(
                f"paused: {self._tries} calls in a row have failed ({message}); "
                f"trying again for up to {left_s:.0f} s, and no record is lost"
            )
        self._next_at = now + min(max(self._wait_s, error.retry_after_s or 0.0), left_s)
        return None

    @asynccontextmanager
    async def turn(self, rest: Callable[[float], Awaitable[None]]) -> AsyncIterator[bool]:
        """Enter at once while calls succeed; during a pause, enter one at a time when the next try is due.

        Args:
            rest: waits for some seconds, or until all calls are stopped.

        Yields:
            Whether the call is a try of a pause.
        """
        if not self.is_paused:
            yield False
            return
        async with self._turn:
            is_probe = self.is_paused
            if is_probe and (wait_s := self._next_at - asyncio.get_running_loop().time()) > 0:
                await rest(wait_s)
            if is_probe and self.is_paused:
                yield True
                return
        yield False

    def _lasted_s(self) -> float:
        return asyncio.get_running_loop().time() - self._began_at

    def _tell(self, sentence: str) -> None:
        if self._on_note is not None:
            self._on_note(sentence)
