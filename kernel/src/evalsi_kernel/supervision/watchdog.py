"""Watch a pack process: when it makes no progress for too long, find the record that hangs and kill the process."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from evalsi_kernel.supervision.connection import RequestFailed
from evalsi_kernel.supervision.score_request import ScoreRequest
from evalsi_kernel.supervision.worker import Worker

PING_S = 2.0


async def watch(worker: Worker, record_timeout_s: float) -> None:
    """Run next to a worker until it ends; kill it when a record takes longer than `record_timeout_s`."""
    while not worker.is_over:
        waited_s = monotonic() - worker.progress_at
        if not worker.requests or worker.connection.asks_open:
            worker.progress_at = monotonic()
            waited_s = 0.0
        if waited_s < record_timeout_s:
            await asyncio.sleep(min(record_timeout_s - waited_s, 1.0))
            continue
        await _examine(worker, record_timeout_s)


async def _examine(worker: Worker, record_timeout_s: float) -> None:
    ping_s = min(PING_S, record_timeout_s)
    before = _scoring(worker)
    try:
        async with asyncio.timeout(ping_s):
            answer = await worker.connection.request("ping", {})
    except TimeoutError:
        # The pack's interpreter is blocked, for example by a regular expression: use its shared memory instead.
        after = _scoring(worker)
        if after is not None and after == before and (found := _locate(worker, after)) is not None:
            worker.timed_out = found
        worker.kill(f"did not respond for {record_timeout_s + ping_s:g} s and was killed")
        await worker.connection.is_over.wait()
        return
    except RequestFailed:
        return
    # At a ping a pack may flush buffered outcomes, so the record in progress may be younger than the timeout.
    for running in answer.get("running", ()):
        found = _locate(worker, running)
        if found is not None and running.get("ms", 0) >= record_timeout_s * 1000 * 0.9:
            worker.timed_out = found
            worker.kill(f"took longer than {record_timeout_s:g} s for one record")
            await worker.connection.is_over.wait()
            return
    worker.progress_at = monotonic()


def _scoring(worker: Worker) -> dict[str, Any] | None:
    return None if worker.process is None else worker.process.scoring()


def _locate(worker: Worker, running: dict[str, Any]) -> tuple[ScoreRequest, int, int] | None:
    """Return the request, session and index in its batch of what the pack reports to be scoring."""
    request = worker.request_of(running.get("request"))
    position, session = running.get("index"), running.get("session")
    if request is None or type(position) is not int or type(session) is not int:
        return None
    indices = range(len(request.chunk.ids)) if request.indices is None else request.indices
    if not 0 <= position < len(indices) or (session, indices[position]) not in request.open_pairs():
        return None
    return request, session, indices[position]
