"""Evaluators whose regular expression backtracks for years on some outputs, and holds the interpreter meanwhile."""

from __future__ import annotations

import asyncio
import re

from evalsi import Record, evaluator

PATTERN = re.compile("^(b|bb)+$")


@evaluator
def matches(record: Record) -> bool:
    """Match on the pack's main thread."""
    return PATTERN.match(record.output.as_text()) is not None


@evaluator
async def matches_async(record: Record) -> bool:
    """Match after other records had their turn."""
    await asyncio.sleep(0)
    return PATTERN.match(record.output.as_text()) is not None


@evaluator
async def matches_in_a_task(record: Record) -> bool:
    """Match in a task that the evaluator starts, after other records had their turn."""

    async def match() -> bool:
        await asyncio.sleep(0.01)
        return PATTERN.match(record.output.as_text()) is not None

    both = await asyncio.gather(match(), asyncio.sleep(0.01))
    return bool(both[0])


@evaluator
async def matches_in_a_thread(record: Record) -> bool:
    """Match in a thread, of which the SDK knows nothing."""
    return await asyncio.to_thread(PATTERN.match, record.output.as_text()) is not None
