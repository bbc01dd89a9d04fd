"""Several processes use one cache file at once: nothing that was put is lost, and no one is told of a fault."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from evalsi_kernel.broker.cache_prune import Bounds, prune
from evalsi_kernel.broker.cache_repair import set_aside_before
from evalsi_kernel.broker.cache_store import opened
from evalsi_kernel.broker.judge_cache import JudgeCache
from tests.kernel.broker.kept_replies import BOUND_S, beside, bounded, fill, found, key, reply, sql

PROCESSES = 6
EACH = 200

# Says that it is ready, and begins when all are told to.
PUT = """
import asyncio, sys
from pathlib import Path
from tests.kernel.broker.kept_replies import put_all
print("ready", flush=True)
sys.stdin.readline()
for start in range(int(sys.argv[2]), int(sys.argv[3]), 50):
    print(asyncio.run(put_all(Path(sys.argv[1]), range(start, start + 50))))
"""


def all_at_once(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Let them begin together; what each prints after."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [process.communicate(timeout=BOUND_S)[0] for process in processes]


def putting(path: Path, processes: int) -> list[subprocess.Popen[str]]:
    return [beside(PUT, path, str(number * EACH), str((number + 1) * EACH)) for number in range(processes)]


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


def test_a_run_reads_and_writes_while_another_process_prunes(tmp_path: Path) -> None:
    path = fill(tmp_path / "replies.sqlite", range(PROCESSES * EACH))
    notes: list[str] = []

    async def work() -> None:
        cache = JudgeCache(path, notes.append)
        await cache.start()
        writers = putting(path, 2)
        done = asyncio.create_task(asyncio.to_thread(all_at_once, writers))
        rounds = 0
        while not done.done() or rounds < 10:
            rounds += 1
            for number in range(0, PROCESSES * EACH, 7):
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


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from evalsi_kernel.broker.judge_cache import JudgeCache
from tests.kernel.broker.kept_replies import key, reply

async def work():
    cache = JudgeCache(Path(sys.argv[1]))
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
from tests.kernel.broker.kept_replies import found
hits, notes = set(), []
while not hits and not notes:
    hits, notes = asyncio.run(found(Path(sys.argv[1]), [1, 2]))
print(hits, notes)
"""


@pytest.mark.parametrize("is_closed", [True, False])
def test_another_process_sees_a_reply_while_and_after_the_one_that_put_it_runs(tmp_path: Path, is_closed: bool) -> None:
    path = tmp_path / "replies.sqlite"

    async def work() -> str:
        cache = JudgeCache(path)
        await cache.start()
        cache.put(key(1), reply(1))
        if is_closed:
            await cache.close()
        seen = await asyncio.to_thread(lambda: beside(LOOK, path).communicate(timeout=BOUND_S)[0])
        await cache.close()
        return seen

    assert bounded(work) == "{1} []\n"
