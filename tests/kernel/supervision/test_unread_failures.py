"""S7: a request whose caller gave up leaves no "Future exception was never retrieved" behind when its pack dies."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from typing import Any

import pytest

from evalsi_kernel.supervision.worker import Worker, start_worker
from tests.kernel.supervised import BOUND_S, launch

MORE_THAN_A_PIPE = "x" * (8 * 1024 * 1024)


async def unread_failures(give_up: Any) -> list[dict[str, Any]]:
    """What the loop complains about once a stopped pack was asked, given up on, and killed."""
    complaints: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    worker = await start_worker(launch())
    assert worker.process is not None
    os.kill(worker.process.pid, signal.SIGSTOP)
    await give_up(worker)
    worker.kill("")
    await worker.connection.is_over.wait()
    await worker.stop()
    del worker
    gc.collect()
    await asyncio.sleep(0)
    return complaints


async def while_it_is_sent(worker: Worker) -> None:
    body = {"sessions": [], "records": [{"id": "1", "output": MORE_THAN_A_PIPE}]}
    asking = asyncio.create_task(worker.connection.start_request("score", body))
    # One step sends what the pipe takes; the rest waits for the pack, which is stopped.
    await asyncio.sleep(0)
    assert not asking.done()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def while_it_is_answered(worker: Worker) -> None:
    pending = await worker.connection.start_request("ping", {})
    assert not pending.answer.done()


@pytest.mark.parametrize("give_up", [while_it_is_sent, while_it_is_answered])
def test_s7_a_request_that_was_given_up_leaves_no_unread_failure(give_up: Any) -> None:
    async def bounded() -> list[dict[str, Any]]:
        async with asyncio.timeout(BOUND_S):
            return await unread_failures(give_up)

    assert asyncio.run(bounded()) == []
