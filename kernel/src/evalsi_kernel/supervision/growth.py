"""Decide when a run adds processes: after it has waited for its packs about as long as a process takes to start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

GROW_AFTER_S = 0.1


class GrowthTimer:
    """Measures the total time spent inside of `with` blocks.

    Args:
        at_end: called on the event loop for every `GROW_AFTER_S` of waiting, also during a block.
    """

    def __init__(self, at_end: Callable[[], None]) -> None:
        self._at_end = at_end
        self._left_s = GROW_AFTER_S

    def __enter__(self) -> None:
        self._since = monotonic()
        self._timer = asyncio.get_running_loop().call_later(self._left_s, self._end)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._left_s -= monotonic() - self._since
        if self._left_s <= 0:
            self._left_s = GROW_AFTER_S
            self._at_end()

    def _end(self) -> None:
        self._left_s = GROW_AFTER_S
        self.__enter__()
        self._at_end()
