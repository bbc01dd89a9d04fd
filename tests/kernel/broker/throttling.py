"""Servers on this event loop that allow so many calls at once, or so many in a second, and refuse the rest.

Knows nothing of what calls them.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable


class Throttled(Exception):
    """A refusal; it asks to wait so long, or does not say."""

    def __init__(self, retry_after_s: float | None) -> None:
        super().__init__(retry_after_s)
        self.retry_after_s = retry_after_s


class Server:
    """Answers what it allows.

    Args:
        at_once: how many calls may be in flight.
        per_s: how many may begin in a second.
        burst: how many of those may begin together.
        takes_s: how long a call takes.
        spread: how unequal calls are: the standard deviation of the logarithm of what they take.
        retry_after_s: what a refusal asks for; None says nothing, "full" whole seconds until a call will be allowed.
        storms: whether it refuses everything at a time.
    """

    def __init__(
        self,
        *,
        at_once: float = math.inf,
        per_s: float = math.inf,
        burst: float = 1.0,
        takes_s: float = 0.05,
        spread: float = 0.0,
        retry_after_s: float | str | None = None,
        storms: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self.at_once = at_once
        self.per_s = per_s
        self.done: list[float] = []
        self.refused: list[float] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._burst = burst
        self._takes_s = takes_s
        self._spread = spread
        self._retry_after_s = retry_after_s
        self._storms = storms
        self._allowed = burst
        self._allowed_at = 0.0
        self._draw = random.Random(7)

    async def call(self) -> None:
        """One call; raises `Throttled`."""
        loop = asyncio.get_running_loop()
        if not self._allows(loop.time()):
            self.refused.append(loop.time())
            await asyncio.sleep(self._takes_s / 10)
            raise Throttled(self._asks_for())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._takes_s * math.exp(self._draw.gauss(0, self._spread)))
        finally:
            self.in_flight -= 1
        self.done.append(loop.time())

    def _allows(self, now: float) -> bool:
        if self._storms(now) or self.in_flight >= self.at_once:
            return False
        if math.isfinite(self.per_s):
            self._allowed = min(self._burst, self._allowed + (now - self._allowed_at) * self.per_s)
            self._allowed_at = now
            if self._allowed < 1 - 1e-9:
                return False
            self._allowed -= 1
        return True

    def _asks_for(self) -> float | None:
        if self._retry_after_s == "full":
            return float(math.ceil((1 - self._allowed) / self.per_s)) if math.isfinite(self.per_s) else 1.0
        return self._retry_after_s if isinstance(self._retry_after_s, float) else None
