"""A fault of the kernel itself is told to whoever waits: each record has an outcome, and nothing hangs."""

from __future__ import annotations

import asyncio

from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from evalsi_kernel.supervision.spawn import spawn
from tests.kernel.supervised import answered, bounded, chunk_of, kinds, launch


def test_a_process_that_cannot_be_started_again_for_a_reason_nobody_foresaw_ends_as_errors() -> None:
    unforeseen = Launch("odd", Command(["a program with a\0 in its name"]))

    async def work() -> list[list[Outcome | None]]:
        pool = Pool(unforeseen, [Opening(1, "crash_on_bad")], PoolLimits(), first=spawn(launch()))
        await pool.start()
        try:
            return [await answered(pool, chunk_of(outputs)) for outputs in (["a"], ["bad", "a"], ["a"])]
        finally:
            await asyncio.wait_for(pool.close(), 10)

    first, second, third = bounded(work)
    assert kinds(first) == ["scored"]
    assert kinds(second + third) == ["error"] * 3
    assert second[0] is not None
    assert second[0][1]["code"] == "kernel.internal"
    assert "null byte" in second[0][1]["message"]
