"""Batches of samples: while one evaluation runs, the samples that arrive wait and are evaluated together next.

Each evaluation starts the packs anew, so samples that wait share that cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
from anyio import to_thread

Row = dict[str, Any]
Found = dict[str, Any] | Exception
"""Result of a row: an outcome as in `results.json`, or the error that prevented one."""


class _Waiting:
    def __init__(self, row: Row) -> None:
        self.row = row
        self.found: Found | None = None


class Batches:
    """Run one evaluation at a time, each with all rows that wait.

    Args:
        evaluate: returns the result of each row, in the same order; called in a thread.
    """

    def __init__(self, evaluate: Callable[[Sequence[Row]], Sequence[Found]]) -> None:
        self._evaluate = evaluate
        self._waiting: list[_Waiting] = []
        self._running = anyio.Lock()

    async def outcome(self, row: Row) -> dict[str, Any]:
        """Return the outcome of a row, or raise the error that prevented it."""
        mine = _Waiting(row)
        self._waiting.append(mine)
        try:
            # The first caller evaluates all waiting rows. A later one finds its row done, or evaluates the next batch.
            async with self._running:
                if mine.found is None:
                    await self._run()
        finally:
            if mine in self._waiting:  # Cancelled before its turn.
                self._waiting.remove(mine)
        if mine.found is None:
            raise RuntimeError("the evaluation ended without an outcome for this sample")
        if isinstance(mine.found, Exception):
            raise mine.found
        return mine.found

    async def _run(self) -> None:
        batch, self._waiting = self._waiting, []
        # Runs on if the calling sample is cancelled: the other samples of the batch wait for it too.
        found = await to_thread.run_sync(self._evaluate, [one.row for one in batch])
        for one, what in zip(batch, found, strict=True):
            one.found = what
