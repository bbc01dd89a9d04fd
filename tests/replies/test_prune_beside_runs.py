"""A run that uses the cache while another prunes it reads and writes on, and is told of no fault."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from evalsi_replies import prune as pruning
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


def test_what_was_empty_when_pruning_began_may_have_been_filled_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(tmp_path / "replies.sqlite", [1])
    with opened(path) as connection:
        assert prune(connection, Bounds(everything=True)) == 1
        delete = pruning._delete_where

        def filled_first(connection: sqlite3.Connection, _: str, values: tuple[str | int, ...]) -> int:
            fill(path, range(3))
            [(one,)] = connection.execute("SELECT min(rowid) FROM replies")
            return delete(connection, f"rowid = {one}", values)

        monkeypatch.setattr(pruning, "_delete_where", filled_first)
        assert prune(connection, Bounds(everything=True)) == 1
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (2,)


def prune_some(path: Path, number: int) -> None:
    bounds = [Bounds(everything=True), Bounds(max_bytes=100_000), Bounds(unused_for_s=0.0), Bounds(model="small-1")]
    with opened(path) as connection:
        prune(connection, bounds[number % len(bounds)])
