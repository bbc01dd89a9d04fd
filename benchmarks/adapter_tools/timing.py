"""What a record costs by the framework alone and through the adapter: processor time of this process, in turn.

The adapter runs as in its pack's process, with host loop and wire; a judge by script stands for the kernel. It must not
know a framework.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any, Final

RECORDS: Final = 1024
AT_ONCE: Final = 64
"""As many as the host loop is given in one request."""
ROUNDS: Final = 3


def together(measure: Callable[[], Awaitable[Any]]) -> None:
    """The framework alone over all records, so many at a time as the adapter has them."""

    async def all_of_them() -> None:
        for _ in range(RECORDS // AT_ONCE):
            await asyncio.gather(*(measure() for _ in range(AT_ONCE)))

    asyncio.run(all_of_them())


def tell(evaluator: str, alone: Callable[[], Any], ours: Callable[[], Any]) -> None:
    """Print both as JSON, milliseconds of processor time a record.

    Args:
        evaluator: for the table.
        alone: the framework over all records.
        ours: the adapter over as many.
    """
    alone()
    ours()
    pairs = [(_cpu_ms(alone), _cpu_ms(ours)) for _ in range(ROUNDS)]
    theirs, whole = (median(values) for values in zip(*pairs, strict=True))
    added = median(whole - theirs for theirs, whole in pairs)
    print(json.dumps({"evaluator": evaluator, "alone_ms": theirs, "ours_ms": whole, "added_ms": added}), flush=True)


def scored(run: Any) -> None:
    """Refuse a run in which a record has no score."""
    kinds = [outcome.kind for outcome in run.outcomes]
    if kinds != ["scored"] * RECORDS:
        raise RuntimeError(f"{len(kinds)} records, of which {kinds.count('scored')} were scored")


def _cpu_ms(run: Callable[[], Any]) -> float:
    before = time.process_time()
    run()
    return (time.process_time() - before) / RECORDS * 1000
