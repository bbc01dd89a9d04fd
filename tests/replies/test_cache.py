"""What was put is found: at once, later, by another cache on the same file; and only under its own key."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Reply, Tokens
from evalsi_replies.cache import ReplyCache
from evalsi_replies.cache_store import default_cache_path
from tests.replies.kept_replies import bounded, fill, found, key, reply, sql

REPLIES = [
    Reply("text"),
    Reply("", "refusal", UNKNOWN_TOKENS, "", "", "text"),
    Reply('{"score": 1}', "stop", Tokens(10, 20, 0, None, 5), "small-1-0914", "call-1", "json_schema"),
    Reply("half a pair: \ud83d, zero: \0", "length", Tokens(output=0), "größe", "id", "json_object"),
    Reply("x" * 1_000_000),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judge" / "replies.sqlite"


def test_a_reply_is_there_at_once_and_is_the_same_after_the_file_was_closed(path: Path) -> None:
    async def work() -> None:
        cache = ReplyCache(path)
        assert await cache.get(key(0).digest) is None
        for number, one in enumerate(REPLIES):
            cache.put(key(number), one)
            assert await cache.get(key(number).digest) == one
        await cache.close()
        again = ReplyCache(path)
        assert [await again.get(key(number).digest) for number in range(len(REPLIES))] == REPLIES
        assert await again.get(key(99).digest) is None
        assert again.fault is None
        await again.close()

    bounded(work)


def test_a_later_reply_takes_the_place_of_an_older_one(path: Path) -> None:
    async def work() -> None:
        for text in ("one", "two"):
            cache = ReplyCache(path)
            await cache.start()
            cache.put(key(1), Reply("before"))
            cache.put(key(1), Reply(text))
            assert await cache.get(key(1).digest) == Reply(text)
            await cache.close()
        again = ReplyCache(path)
        assert await again.get(key(1).digest) == Reply("two")
        await again.close()

    bounded(work)
    assert sql(path, "SELECT count(*) FROM replies") == [(1,)]


def test_two_caches_on_one_file_see_what_the_other_has_written(path: Path) -> None:
    async def work() -> None:
        one, other = ReplyCache(path), ReplyCache(path)
        await asyncio.gather(one.start(), other.start())
        assert await one.get(key(2).digest) is None
        other.put(key(2), reply(2))
        await other.close()
        assert await one.get(key(2).digest) == reply(2)
        await one.close()

    bounded(work)


def test_what_was_put_before_the_file_was_open_is_written(path: Path) -> None:
    async def work() -> None:
        cache = ReplyCache(path)
        cache.put(key(1), reply(1))
        await cache.close()

    bounded(work)
    assert bounded(lambda: found(path, [1])) == ({1}, [])


def test_a_cache_that_nobody_uses_makes_no_file(path: Path) -> None:
    bounded(ReplyCache(path).close)
    assert not path.parent.exists()


def test_many_tasks_that_come_at_once_open_it_once_and_one_that_goes_away_takes_nothing_with_it(path: Path) -> None:
    fill(path, range(64))

    async def work() -> None:
        cache = ReplyCache(path)
        first = asyncio.create_task(cache.get(key(0).digest))
        others = [asyncio.create_task(cache.get(key(number).digest)) for number in range(64)]
        await asyncio.sleep(0)
        first.cancel()
        assert await asyncio.gather(*others) == [reply(number) for number in range(64)]
        assert first.cancelled()
        await cache.close()

    bounded(work)


def use(path: Path, *numbers: int) -> None:
    assert bounded(lambda: found(path, numbers)) == (set(numbers), [])


def test_a_hit_notes_the_hour_of_its_use_and_nothing_else(path: Path) -> None:
    fill(path, [1, 2])
    sql(path, "UPDATE replies SET used = 7, created = 8")
    use(path, 1)
    [(used, created)] = sql(path, "SELECT used, created FROM replies WHERE digest = ?", key(1).digest)
    assert used == pytest.approx(time.time() // 3600, abs=1)
    assert created == 8
    assert sql(path, "SELECT used, created FROM replies WHERE digest = ?", key(2).digest) == [(7, 8)]


def test_a_hit_in_an_hour_that_is_noted_writes_nothing(path: Path) -> None:
    fill(path, [1])
    sql(path, "UPDATE replies SET used = ?", time.time() // 3600 + 1)
    watching = sqlite3.connect(path)
    before = watching.execute("PRAGMA data_version").fetchall()
    use(path, 1, 1, 1)
    assert watching.execute("PRAGMA data_version").fetchall() == before
    fill(path, [2])
    assert watching.execute("PRAGMA data_version").fetchall() != before
    watching.close()


def test_only_its_owner_can_look_into_the_folder_and_the_file_says_its_version(path: Path) -> None:
    fill(path, [1])
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sql(path, "PRAGMA user_version") == [(1,)]
    assert sql(path, "PRAGMA journal_mode") == [("wal",)]
    # Without it, pruning could give nothing back in steps.
    assert sql(path, "PRAGMA auto_vacuum") == [(2,)]


def test_nothing_of_what_was_asked_is_kept_only_its_hashes(path: Path) -> None:
    fill(path, [1])
    kept = path.read_bytes()
    assert b"Answer 1" not in kept
    assert b"localhost:8000" not in kept
    assert b"Reply 1." in kept


@pytest.mark.parametrize("name", ["a b", "50%?mode=memory#x", "größe\n", "\udcff", ":memory:"])
def test_any_name_of_a_folder_will_do(name: str, tmp_path: Path) -> None:
    path = fill(tmp_path / name / "replies.sqlite", [1])
    assert path.stat().st_size > 0
    assert bounded(lambda: found(path, [1])) == ({1}, [])


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(Path("replies.sqlite"), [1])
    assert (tmp_path / "replies.sqlite").is_file()


def test_it_lies_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path))
    assert default_cache_path() == tmp_path / "judge" / "replies.sqlite"
