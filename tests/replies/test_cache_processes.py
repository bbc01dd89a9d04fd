"""Several processes use one cache file at once: nothing that was put is lost, and no one is told of a fault."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from evalsi_replies.cache import ReplyCache
from evalsi_replies.cache_repair import set_aside_before
from tests.replies.kept_replies import (
    BOUND_S,
    EACH,
    all_at_once,
    beside,
    bounded,
    found,
    key,
    putting,
    reply,
    sql,
)

PROCESSES = 6


def test_processes_that_make_the_file_and_write_to_it_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    printed = all_at_once(putting(path, PROCESSES))
    assert printed == ["[]\n" * (EACH // 50)] * PROCESSES
    assert bounded(lambda: found(path, range(PROCESSES * EACH))) == (set(range(PROCESSES * EACH)), [])


def test_processes_that_find_the_same_damaged_file_set_it_aside_once(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(b"I am no database. " * 1000)
    printed = "".join(all_at_once(putting(path, PROCESSES)))
    [aside] = set_aside_before(path)
    assert aside.read_bytes().startswith(b"I am no database. ")
    assert printed.count(f"It is kept as {aside}.") == 1
    assert bounded(lambda: found(path, range(PROCESSES * EACH))) == (set(range(PROCESSES * EACH)), [])


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from evalsi_replies.cache import ReplyCache
from tests.replies.kept_replies import key, reply

async def work():
    cache = ReplyCache(Path(sys.argv[1]))
    await cache.start()
    for number in range(100):
        cache.put(key(number), reply(number))
    while cache._writer.has_unwritten:
        await asyncio.sleep(0)
    for number in range(100, 10_000):
        cache.put(key(number), reply(number))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(work())
"""


def test_a_process_that_is_killed_loses_only_what_was_on_its_way_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    process = beside(KILLED, path)
    process.communicate(timeout=BOUND_S)
    assert process.returncode == -signal.SIGKILL
    hits, notes = bounded(lambda: found(path, range(100)))
    assert (hits, notes) == (set(range(100)), [])
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]


# Looks again and again, since a reply is in the file a moment after it was put.
LOOK = """
import asyncio, sys
from pathlib import Path
from tests.replies.kept_replies import found
hits, notes = set(), []
while not hits and not notes:
    hits, notes = asyncio.run(found(Path(sys.argv[1]), [1, 2]))
print(hits, notes)
"""


@pytest.mark.parametrize("is_closed", [True, False])
def test_another_process_sees_a_reply_while_and_after_the_one_that_put_it_runs(tmp_path: Path, is_closed: bool) -> None:
    path = tmp_path / "replies.sqlite"

    async def work() -> str:
        cache = ReplyCache(path)
        await cache.start()
        cache.put(key(1), reply(1))
        if is_closed:
            await cache.close()
        seen = await asyncio.to_thread(lambda: beside(LOOK, path).communicate(timeout=BOUND_S)[0])
        await cache.close()
        return seen

    assert bounded(work) == "{1} []\n"
