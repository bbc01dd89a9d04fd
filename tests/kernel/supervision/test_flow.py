"""Both ends send more than the pipes hold, and one of them does not read: nothing stands still, nothing else waits."""

from __future__ import annotations

import asyncio
import sys

from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from tests.kernel.supervised import NAUGHTY, answered, bounded, chunk_of, kinds, launch


def floods(how: str) -> Launch:
    return Launch(how, Command([sys.executable, str(NAUGHTY / "floods.py"), how], whole_environment=True))


async def score_all(pool: Pool, chunks: list[Chunk]) -> list[list[str]]:
    """Score the chunks, all asked before the first is answered."""
    await pool.start()
    try:
        return [kinds(column) for column in await asyncio.gather(*(answered(pool, chunk) for chunk in chunks))]
    finally:
        await pool.close()


def test_a_pack_that_writes_megabytes_and_reads_nothing_meanwhile_is_read_while_the_kernel_sends() -> None:
    chunks = [chunk_of(["x" * 40_000] * 40) for _ in range(8)]

    async def work() -> list[list[str]]:
        return await score_all(Pool(floods("writes-all"), [Opening(1, "any")], PoolLimits()), chunks)

    assert bounded(work) == [["scored"] * 40] * 8


UNREAD = ["x" * 2_000_000]


def test_a_pack_that_stops_reading_is_ended_after_its_time() -> None:
    async def work() -> list[list[str]]:
        deaf = Pool(floods("deaf"), [Opening(1, "any")], PoolLimits(record_timeout_s=0.2))
        return await score_all(deaf, [chunk_of(UNREAD)])

    assert bounded(work) == [["error"]]


def test_no_other_pack_waits_for_one_that_stops_reading() -> None:
    async def work() -> list[list[str]]:
        deaf = Pool(floods("deaf"), [Opening(1, "any")], PoolLimits(record_timeout_s=30.0))
        await deaf.start()
        waiting = asyncio.create_task(answered(deaf, chunk_of(UNREAD)))
        try:
            well = Pool(launch(), [Opening(1, "raise_on_bad")], PoolLimits())
            found = await score_all(well, [chunk_of(["good"] * 100)])
            assert not waiting.done()
            return found
        finally:
            deaf.abort()
            waiting.cancel()
            await deaf.close()

    assert bounded(work) == [["scored"] * 100]
