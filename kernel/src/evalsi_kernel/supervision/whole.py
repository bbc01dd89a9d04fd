"""The score of all records together, asked of one process of a pool; once more after a crash.

It must not know how states are kept, nor what comes of the score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from evalsi_kernel.supervision.connection import Connection, RequestFailed
from evalsi_kernel.supervision.pool import Pool, too_slow
from evalsi_protocol.errors import WireError

TRIES = 2
TIME_FACTOR = 10
"""The score of the whole may take so many times as long as that of a record."""


async def score_of_whole(
    pool: Pool, session: int, parts: Callable[[], Iterable[list[Any]]], resamples: int, seed: int
) -> dict[str, Any]:
    """One score for the whole from the states of a dataset-scope session.

    Args:
        pool: of the evaluator's pack, started.
        session: of the evaluator.
        parts: gives the states from the first on, in the order of the data.
        resamples: how often to score a resample.
        seed: of the resampling.

    Raises:
        RequestFailed: the pack failed, crashed twice, or took too long.
    """
    name, most_s = pool.launch.name, pool.limits.record_timeout_s * TIME_FACTOR
    error = WireError("pack.crashed", f"The pack {name} is gone.")
    last = {"session": session, "states": [], "more": False, "resamples": resamples, "seed": seed}
    for _ in range(TRIES):
        worker = await pool.living()
        if worker is None:
            break
        try:
            async with asyncio.timeout(most_s):
                await _hand_over(worker.connection, session, parts())
                return await worker.connection.request("aggregate", last)
        except TimeoutError:
            worker.kill(f"took longer than {most_s:g} s to aggregate")
            raise RequestFailed(too_slow(f"No score of the whole within {most_s:g} s.")) from None
        except RequestFailed as failure:
            if not failure.gone:
                raise
            error = WireError("pack.crashed", f"The pack {name} {await worker.epitaph()}")
    raise RequestFailed(pool.broken or error, gone=True)


async def _hand_over(connection: Connection, session: int, parts: Iterable[list[Any]]) -> None:
    for part in parts:
        await connection.request("aggregate", {"session": session, "states": part, "more": True})
