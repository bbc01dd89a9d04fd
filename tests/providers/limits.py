"""A rate limit that is really kept: so many calls in flight, so many a second. It counts, and knows no HTTP."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple


class Limits(NamedTuple):
    """What the vendor allows one client. None allows any number."""

    max_in_flight: int | None = None
    per_second: int | None = None
    tells_retry_after: bool = True


class Meter:
    """Counts calls against the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began: deque[float] = deque()

    def wait_s(self, now_s: float, in_flight: int) -> float | None:
        """Take one call in, or refuse it.

        Args:
            now_s: The time of the call, from a clock that never goes back.
            in_flight: How many calls are being answered, without this one.

        Returns:
            None when the call is taken in; else the seconds after which another may be.
        """
        most, rate = self._limits.max_in_flight, self._limits.per_second
        if most is not None and in_flight >= most:
            return 1.0
        if rate is None:
            return None
        while self._began and self._began[0] <= now_s - 1.0:
            self._began.popleft()
        if len(self._began) >= rate:
            return self._began[0] + 1.0 - now_s
        self._began.append(now_s)
        return None

    def retry_after(self, wait_s: float) -> str | None:
        """What Retry-After says of such a wait: whole seconds, rounded up."""
        return str(max(1, math.ceil(wait_s))) if self._limits.tells_retry_after else None
