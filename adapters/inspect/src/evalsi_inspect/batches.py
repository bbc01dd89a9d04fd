"""Gathers what several samples ask for at once: while one evaluation runs, all that comes waits for the next together.

Starting the packs is what an evaluation costs beside its work, so that it is shared by all that wait. It must not know
Inspect's scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
from anyio import to_thread

Row = dict[str, Any]
Found = dict[str, Any] | Exception
"""What became of a row: an outcome as `results.json` has it, or why there is none."""


class _Waiting:
    def __init__(self, row: Row) -> None:
        self.row = row
        self.found: Found | None = None


class Batches:
    """Evaluations of all rows that wait, one after another.

    Args:
        evaluate: gives what became of each row, in their order; called in a thread.
    """

    def __init__(self, evaluate: Callable[[Sequence[Row]], Sequence[Found]]) -> None:
        self._evaluate = evaluate
        self._waiting: list[_Waiting] = []
        self._running = anyio.Lock()

    async def outcome(self, row: Row) -> dict[str, Any]:
        """What became of a row; raises what kept its evaluation from running."""
        mine = _Waiting(row)
        self._waiting.append(mine)
        try:
            # Whoever comes first takes all that wait; who comes after finds his own done, or takes the next.
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
        # Not abandoned when the sample that leads is cancelled: the others wait for it too.
        found = await to_thread.run_sync(self._evaluate, [one.row for one in batch])
        for one, what in zip(batch, found, strict=True):
            one.found = what
