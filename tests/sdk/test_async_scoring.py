"""Test the concurrency of asynchronous evaluators and the order of their requests."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from evalsi import Record, evaluator
from evalsi.async_scoring import AsyncScorer
from evalsi.definition import definition_of
from evalsi.item_buffer import ItemBuffer
from evalsi.opened import open_evaluator
from evalsi.scoring import Running

BOUND_S = 60.0


def test_the_records_of_a_request_go_before_those_of_the_next() -> None:
    begun: list[str] = []

    @evaluator(name="noted", version=1, needs=("output",))
    async def noted(record: Record) -> bool:
        begun.append(record.id)
        await asyncio.sleep(0)
        return True

    sent: list[dict[str, Any]] = []

    def done(_finished: bool, _error: BaseException | None) -> None:
        ended.release()

    ended = threading.Semaphore(0)
    sessions = [(1, open_evaluator(definition_of(noted), {}))]
    scorer = AsyncScorer(2, Running(), lambda _: False)
    try:
        for request in (1, 2):
            records = [{"id": f"{request}.{number}", "output": "a"} for number in range(6)]
            scorer.submit(request, records, sessions, ItemBuffer(request, lambda _, body: sent.append(body)), done)
        assert all(ended.acquire(timeout=BOUND_S) for _ in range(2))
    finally:
        scorer.close()
    assert begun == [f"{request}.{number}" for request in (1, 2) for number in range(6)]
