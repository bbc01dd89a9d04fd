"""Second invariant: one answer per request, also when cancelled; a crash loses only what was not answered."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from evalsi import Record, evaluator
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.supervision.launch import Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from evalsi_protocol.machine import ErrorReceived, ResponseReceived
from tests.kernel.supervised import NAUGHTY, bounded, chunk_of, kinds, launch
from tests.protocol.kernel_end import BOUND_S, serving, texts


@pytest.mark.parametrize("seed", range(5))
def test_every_request_is_answered_once_whenever_it_is_cancelled(seed: int) -> None:
    draw = random.Random(seed)
    entered = threading.Semaphore(0)

    @evaluator(name="some", version=1)
    def some(record: Record) -> bool:
        entered.release()
        return True

    @evaluator(name="later", version=1)
    async def later(record: Record) -> bool:
        entered.release()
        await asyncio.sleep(0)
        return True

    with serving(some, later, window=8) as kernel:
        kernel.open(1, "some")
        kernel.open(2, "later", concurrency=2)
        asked = []
        for _ in range(8):
            asked.append(kernel.start("score", {"sessions": [draw.choice([1, 2])], "records": texts(*"abcdef")}))
            if draw.random() < 0.5:
                assert entered.acquire(timeout=BOUND_S)
            if draw.random() < 0.7:
                kernel.machine.cancel(draw.choice(asked))
                kernel.send()
        for request_id in asked:
            kernel.wait_for(request_id)
        kernel.ask("bye", {})
        answers = [event.id for event in kernel.events if isinstance(event, ResponseReceived | ErrorReceived)]
        assert max(Counter(answers).values()) == 1
        assert set(asked) <= set(answers)
        for request_id in asked:
            places = [index for _, index, _, _ in kernel.items[request_id]]
            assert len(places) == len(set(places))


def test_a_crash_loses_only_what_was_not_answered_and_that_alone_is_asked_again(tmp_path: Path) -> None:
    log = tmp_path / "asked.log"
    chunks = [chunk_of([f"{number}-{index}" for index in range(20)]) for number in range(12)]

    async def work() -> list[str]:
        pool = Pool(launch(NAUGHTY / "diary.py"), [Opening(1, "writes_down", {"where": str(log)})], PoolLimits())
        await pool.start()
        try:
            events = [expected(chunk, pool) for chunk in chunks]
            for chunk in chunks:
                await pool.submit(chunk)
            await events[4].wait()
            answered = [f"{n}-{i}" for n, chunk in enumerate(chunks) for i, one in enumerate(chunk.columns[1]) if one]
            pid = int(log.read_text().split("\n", 1)[0].split(" ")[1])
            os.kill(pid, signal.SIGKILL)
            for event in events:
                await event.wait()
            return answered
        finally:
            await pool.close()

    answered = bounded(work)
    assert [kinds(chunk.columns[1]) for chunk in chunks] == [["scored"] * 20] * 12
    asked = [line.split(" ") for line in log.read_text().splitlines()]
    first, second = list(dict.fromkeys(pid for _, pid in asked))
    again = {text for text, pid in asked if pid == second}
    assert len(answered) >= 100
    assert again.isdisjoint(answered)
    assert {text for text, _ in asked} == {f"{number}-{index}" for number in range(12) for index in range(20)}
    assert Counter(text for text, pid in asked if pid == first).most_common(1)[0][1] == 1


def expected(chunk: Chunk, pool: Pool) -> asyncio.Event:
    event = asyncio.Event()
    chunk.when_answered = event.set
    chunk.expect(pool.sessions)
    return event
