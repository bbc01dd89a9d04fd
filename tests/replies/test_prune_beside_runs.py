"""A run that uses the cache while another prunes it reads and writes on, and is told of no fault."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evalsi_replies.cache import ReplyCache
from evalsi_replies.opening import opened
from evalsi_replies.prune import Bounds, prune
from tests.replies.kept_replies import EACH, all_at_once, bounded, fill, found, key, putting, reply, sql

COUNT = 1200


def test_a_run_reads_and_writes_while_another_process_prunes(tmp_path: Path) -> None:
    path = fill(tmp_path / "replies.sqlite", range(COUNT))
    notes: list[str] = []

    async def work() -> None:
        cache = ReplyCache(path, notes.append)
        await cache.start()
        writers = putting(path, 2)
        done = asyncio.create_task(asyncio.to_thread(all_at_once, writers))
        rounds = 0
        while not done.done() or rounds < 10:
            rounds += 1
            for number in range(0, COUNT, 7):
                assert await cache.get(key(number).digest) in (None, reply(number))
                cache.put(key(number), reply(number))
            await asyncio.to_thread(prune_some, path, rounds)
        assert await done == ["[]\n" * (EACH // 50)] * 2
        cache.put(key(1), reply(1))
        await cache.close()

    bounded(work)
    assert notes == []
    assert bounded(lambda: found(path, [1])) == ({1}, [])
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]


def prune_some(path: Path, number: int) -> None:
    bounds = [Bounds(everything=True), Bounds(max_bytes=100_000), Bounds(unused_for_s=0.0), Bounds(model="small-1")]
    with opened(path) as connection:
        prune(connection, bounds[number % len(bounds)])
