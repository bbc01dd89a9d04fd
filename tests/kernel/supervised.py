"""Pools over real processes, for the supervisor's tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from evalsi_protocol.frames import pack, pack_array
from evalsi_protocol.progress import DESCRIPTOR_VARIABLE

NAUGHTY = Path(__file__).parent / "naughty"
BOUND_S = 60.0

T = TypeVar("T")


def launch(evaluators: Path = NAUGHTY / "evaluators.py", *, start_timeout_s: float = 60.0) -> Launch:
    argv = [sys.executable, "-m", "evalsi.serving", "--file", str(evaluators)]
    return Launch("naughty", Command(argv, whole_environment=True), start_timeout_s=start_timeout_s)


def without_progress(started: Launch) -> Launch:
    """The launch of a pack that does not write down which record it scores, as one without the SDK may be."""
    assert started.command is not None
    argv = ["env", "-u", DESCRIPTOR_VARIABLE, *started.command.argv]
    return started._replace(command=started.command._replace(argv=argv))


def launch_raw(fault: str) -> Launch:
    return Launch(fault, Command([sys.executable, str(NAUGHTY / "raw_packs.py"), fault], whole_environment=True))


def chunk_of(outputs: Sequence[str]) -> Chunk:
    ids = [str(index) for index in range(len(outputs))]
    packed = [pack({"id": i, "output": output}) for i, output in zip(ids, outputs, strict=True)]
    return Chunk(pack_array(packed, len(ids)), ids, list(range(1, len(ids) + 1)))


async def answered(pool: Pool, chunk: Chunk) -> list[Outcome | None]:
    """Score a chunk; its first session's outcomes."""
    event = asyncio.Event()
    chunk.when_answered = event.set
    chunk.expect(pool.sessions)
    await pool.submit(chunk)
    await event.wait()
    return chunk.columns[pool.sessions[0]]


def score(
    started: Launch, evaluator: str, *chunks: Chunk, limits: PoolLimits | None = None
) -> tuple[list[list[Outcome | None]], Pool]:
    """Score chunks one after another in a pool of its own; their outcomes, and the pool as it was at the end."""

    async def work() -> tuple[list[list[Outcome | None]], Pool]:
        pool = Pool(started, [Opening(1, evaluator)], limits or PoolLimits())
        await pool.start()
        try:
            return [await answered(pool, chunk) for chunk in chunks], pool
        finally:
            await pool.close()

    return bounded(work)


def bounded(work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        async with asyncio.timeout(BOUND_S):
            return await work()

    return asyncio.run(run())


def kinds(column: list[Any]) -> list[str]:
    return [outcome[0] for outcome in column]
