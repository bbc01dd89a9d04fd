"""Compute the dataset-scope score in one process of a pool; retried once after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from evalsi_kernel.supervision.connection import Connection, RequestFailed
from evalsi_kernel.supervision.pool import Pool, timeout_error
from evalsi_protocol.errors import WireError

TRIES = 2
TIME_FACTOR = 10
"""Timeout of the dataset-scope score as a multiple of the timeout of a record."""


async def aggregate_states(
    pool: Pool, session: int, parts: Callable[[], Iterable[list[Any]]], resamples: int, seed: int
) -> dict[str, Any]:
    """Return the score of the whole data set from the states of a dataset-scope session.

    Args:
        pool: started pool of the evaluator's pack.
        session: session of the evaluator.
        parts: returns the states from the start, in the order of the data.
        resamples: number of resamples to score.
        seed: seed of the resampling.

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
            raise RequestFailed(timeout_error(f"No dataset-scope score within {most_s:g} s.")) from None
        except RequestFailed as failure:
            if not failure.gone:
                raise
            error = WireError("pack.crashed", f"The pack {name} {await worker.describe_end()}")
    raise RequestFailed(pool.broken or error, gone=True)


async def _hand_over(connection: Connection, session: int, parts: Iterable[list[Any]]) -> None:
    for part in parts:
        await connection.request("aggregate", {"session": session, "states": part, "more": True})
