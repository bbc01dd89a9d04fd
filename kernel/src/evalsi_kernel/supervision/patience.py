"""How long a run waits for its packs before they get one more process each: about what a process costs at its start.

So whatever the data and the evaluators, no more is lost by waiting than by a process that was not needed.
It must not know packs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

PATIENCE_S = 0.1


class Patience:
    """Adds up how long `with` waited.

    Args:
        at_end: called on the event loop, also amid the waiting, whenever it came to another `PATIENCE_S`.
    """

    def __init__(self, at_end: Callable[[], None]) -> None:
        self._at_end = at_end
        self._left_s = PATIENCE_S

    def __enter__(self) -> None:
        self._since = monotonic()
        self._timer = asyncio.get_running_loop().call_later(self._left_s, self._end)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._left_s -= monotonic() - self._since
        if self._left_s <= 0:
            self._left_s = PATIENCE_S
            self._at_end()

    def _end(self) -> None:
        self._left_s = PATIENCE_S
        self.__enter__()
        self._at_end()
