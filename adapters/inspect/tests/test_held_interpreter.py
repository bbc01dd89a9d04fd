"""E14: a pattern that backtracks for years costs its record alone, after one wait; the pack's others are scored."""

from __future__ import annotations

import asyncio
import sys

from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from evalsi_protocol.frames import pack, pack_array

OUTPUTS = ["bb", "bbb", "b" * 45 + "c", "c", "b"]


async def outcomes() -> tuple[list[tuple[str, object]], int]:
    command = Command([sys.executable, "-m", "evalsi.serving", "--module", "evalsi_inspect"], whole_environment=True)
    opening = Opening(1, "pattern", {"pattern": "^(b|bb)+$"})
    pool = Pool(Launch("inspect", command), [opening], PoolLimits(record_timeout_s=20.0))
    await pool.start()
    packed = [pack({"id": str(place), "output": output, "reference": "bb"}) for place, output in enumerate(OUTPUTS)]
    chunk = Chunk(pack_array(packed, len(packed)), [str(place) for place in range(len(packed))], [*range(len(packed))])
    answered = asyncio.Event()
    chunk.when_answered = answered.set
    chunk.expect(pool.sessions)
    try:
        await pool.submit(chunk)
        await asyncio.wait_for(answered.wait(), 100)
        return [outcome for outcome in chunk.columns[1] if outcome is not None], pool.restarts
    finally:
        await pool.close()


def test_e14_one_record_is_a_timeout_and_the_others_are_scored() -> None:
    found, restarts = asyncio.run(outcomes())
    assert [kind for kind, _ in found] == ["scored", "scored", "error", "scored", "scored"]
    assert found[2][1]["code"] == "pack.timeout"  # type: ignore[index]
    assert restarts == 1
