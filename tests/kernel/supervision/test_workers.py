"""Several processes of one pack: all of them work, and what comes out is what one process gives, to the last bit."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from evalsi_kernel.evaluation.evaluation import evaluate
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.request import Request
from evalsi_kernel.supervision.engine import score_chunks
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pack_process import attach
from evalsi_kernel.supervision.pool import Pool
from evalsi_kernel.supervision.spawn import spawn
from tests.kernel.data_path import Lines
from tests.kernel.supervised import NAUGHTY, bounded, chunk_of, launch

WORKERS = launch(NAUGHTY / "workers.py")


def score_at_once(evaluator: str, chunks: list[Chunk], limits: PoolLimits) -> Pool:
    """Hand all chunks to a pool before the first is answered."""

    async def work() -> Pool:
        pool = Pool(WORKERS, [Opening(1, evaluator)], limits)
        await pool.start()
        try:
            answered = [asyncio.Event() for _ in chunks]
            for chunk, event in zip(chunks, answered, strict=True):
                chunk.expect(pool.sessions)
                chunk.when_answered = event.set
                await pool.submit(chunk)
            pool.grow()
            for event in answered:
                await event.wait()
            return pool
        finally:
            await pool.close()

    return bounded(work)


def labels(chunks: list[Chunk]) -> list[str]:
    return [outcome[1][0]["label"] for chunk in chunks for outcome in chunk.columns[1] if outcome is not None]


def test_two_processes_share_the_work_and_every_record_has_its_own_outcome() -> None:
    chunks = [chunk_of([f"{number}-{index}" for index in range(10)]) for number in range(30)]
    score_at_once("who", chunks, PoolLimits(processes=2))
    found = [label.split(" ") for label in labels(chunks)]
    assert [text for text, _ in found] == [f"{number}-{index}" for number in range(30) for index in range(10)]
    shares = [sum(who == one for _, who in found) for one in {who for _, who in found}]
    assert len(shares) == 2
    assert min(shares) >= 50


def test_a_run_that_waits_for_its_packs_lets_them_grow() -> None:
    class Asked(Pool):
        times = 0

        def grow(self) -> None:
            self.times += 1
            super().grow()

    async def work() -> tuple[int, int]:
        pool, scored = Asked(WORKERS, [Opening(1, "who")], PoolLimits(processes=2)), list[Chunk]()
        await pool.start()
        try:
            chunks = (chunk_of(["x"] * 10) for _ in range(20))
            await score_chunks(chunks, [pool], scored.append, asyncio.Event(), may_block=False)
        finally:
            await pool.close()
        return pool.times, len(scored)

    times, scored = bounded(work)
    assert times >= 1
    assert scored == 20


def test_the_end_of_each_of_many_processes_is_noticed_however_few_threads_the_loop_has() -> None:
    async def work() -> list[str]:
        command = Command(["/bin/cat"])
        processes = [await attach(spawn(Launch("many", command))) for _ in range((os.cpu_count() or 1) + 8)]
        try:
            processes[-1].kill()
            processes[-2].transport.close_writing()
            return [await process.end_of_life() for process in processes[-2:]]
        finally:
            await asyncio.gather(*(process.stop() for process in processes))

    assert bounded(work) == ["exited with code 0", "was killed by SIGKILL"]


WORDS = ["a", "b", "c", "d", "e", "f", "g"]
ROWS: list[dict[str, Any] | None] = [
    {
        "output": " ".join(WORDS[: number % 7] * (number % 5)),
        "reference": ["a b c", "a b c d e"],
        "usage": {"latency_ms": number / 7},
    }
    for number in range(1, 1300)
]


def outcome_of_a_run(processes: int, at_once: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    wanted = [Wanted(name) for name in ("exact-match", "fuzzy-match", "latency", "corpus-bleu")]
    source = Lines(ROWS, at_once=at_once)
    found = evaluate(Request(source, wanted, processes=processes, keep_results=True), default_catalog())
    assert found.spool is not None
    # How long a record took is another time another.
    results = [{key: value for key, value in one.items() if key != "duration_ms"} for one in found.spool.results()]
    return [summary.to_dict() for summary in found.summaries], results


def test_summaries_and_results_do_not_depend_on_processes_or_on_how_the_data_is_cut() -> None:
    summaries, results = outcome_of_a_run(processes=1, at_once=1300)
    assert [one["n"] for one in summaries] == [1299] * 4
    assert all(one["mean"] not in (0.0, 1.0) for one in summaries)
    for processes, at_once in ((2, 37), (1, 200)):
        assert outcome_of_a_run(processes, at_once) == (summaries, results)
