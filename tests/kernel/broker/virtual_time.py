"""An event loop whose clock stands still while anything can be done and jumps when nothing can: hours pass at once.

What waits for something that can never happen is an error instead of a hang. Knows nothing of what runs in it.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Waits by moving the clock of its loop."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("Everything waits, and nothing will ever happen.")
            self.now += max(timeout, 0.0)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An asyncio loop on such a clock, which begins at 0."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """The time of the clock, in seconds."""
        return self._virtual.now


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a clock of its own."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
