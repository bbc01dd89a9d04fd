"""No fault of the cache file fails a run or changes a reply; each is told once, with what it costs."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.ask import Reply, Tokens
from evalsi_replies.cache import ReplyCache
from evalsi_replies.cache_repair import set_aside_before
from tests.replies.kept_replies import COUNT, ROOT, bounded, fill, found, held, key, put_all, reply, sql, use


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judge" / "replies.sqlite"


def newer(path: Path) -> None:
    sql(fill(path, [1]), "PRAGMA user_version = 2")


def of_something_else(path: Path) -> None:
    path.parent.mkdir()
    sql(path, "CREATE TABLE bookmarks (url)")


def a_folder(path: Path) -> None:
    path.mkdir(parents=True)


def below_a_file(path: Path) -> None:
    path.parent.write_text("no folder")


UNUSABLE: dict[str, tuple[Any, str, str]] = {
    "newer": (newer, "cache.newer", "was written by a newer version: {path} has version 2, this evalsi knows 1."),
    "of something else": (of_something_else, "cache.unusable", "{path} is a database of something else."),
    "a folder": (a_folder, "cache.unusable", "cannot be used: {path} (unable to open database file)."),
    "below a file": (below_a_file, "cache.unusable", "cannot be used: {path} (File exists)."),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_cannot_be_used_is_left_alone_and_the_run_goes_on_without(path: Path, kind: str) -> None:
    make, code, sentence = UNUSABLE[kind]
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    hits, [note], fault = use(path)
    assert (hits, fault) == (set(), code)
    assert sentence.format(path=path) in note
    assert note.endswith("This run goes on without it: each call is made, and paid.")
    assert "EVALSI_CACHE_DIR" in note
    assert (path.read_bytes() if path.is_file() else b"") == before


# Nothing is closed to root, so that the test in a container runs as somebody else, who may not import from everywhere.
UNPRIVILEGED = """
import asyncio, os, sys
from pathlib import Path
from tests.replies.kept_replies import found, put_all
path = Path(sys.argv[1])
asyncio.run(found(path.parent.parent / "warm" / path.name, [1]))
if os.getuid() == 0:
    os.setuid(65534)
print(asyncio.run(put_all(path, [1, 2])))
print(asyncio.run(found(path, [1, 2])))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everyone can reach, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("there", ["a cache", "nothing", "no database"])
def test_a_folder_that_cannot_be_written_is_told_and_the_run_goes_on(open_folder: Path, there: str) -> None:
    path = open_folder / "judge" / "replies.sqlite"
    path.parent.mkdir()
    if there == "a cache":
        fill(path, [1])
    elif there == "no database":
        path.write_text("I am no database. " * 100)
    path.parent.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )
    path.parent.chmod(0o755)
    assert done.returncode == 0, done.stderr
    kept, looked = done.stdout.splitlines()
    assert f"cannot be used: {path}" in kept
    assert "Make it and its folder writable" in kept
    assert looked.startswith("(set(), [")
    assert "each call is made, and paid." in looked
    assert set_aside_before(path) == []


FULL_DISK = """
import asyncio, resource, signal, sys
sys.dont_write_bytecode = True  # The limit would cut compiled files too, which other tests load.
from pathlib import Path
from evalsi_replies.cache import ReplyCache
from tests.replies.kept_replies import fill, key, reply

path, limit_bytes = Path(sys.argv[1]), int(sys.argv[2])
if limit_bytes:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
fill(path, range(100))

async def work():
    cache = ReplyCache(path, print)
    for start in range(100, 3000, 100):
        for number in range(start, start + 100):
            cache.put(key(number), reply(number))
        assert await cache.get(key(0).digest) == reply(0)
        await asyncio.sleep(0)
    await cache.close()
    print(cache.fault.code, cache.fault.hint)
    again = ReplyCache(path, print)
    assert await again.get(key(0).digest) == reply(0)
    await again.close()

asyncio.run(work())
"""


def run_full_disk(words: list[str], path: Path, limit_bytes: int) -> list[str]:
    done = subprocess.run(
        [*words, sys.executable, "-c", FULL_DISK, str(path), str(limit_bytes)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_when_no_more_can_be_written_it_is_told_once_and_reading_goes_on(path: Path) -> None:
    note, fault = run_full_disk([], path, 400_000)
    assert note.startswith(f"The cache of model replies cannot be written: {path} (")
    assert note.endswith("New replies of this run are not kept; those that are kept are still used.")
    assert fault.startswith("cache.unusable ")


# A file system of a megabyte, which only this process and its children see.
TINY_DISK = 'mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$@"'


def can_mount() -> bool:
    unshare = shutil.which("unshare")
    words = ["-rm", "sh", "-c", TINY_DISK, "sh", "/mnt", "true"]
    return unshare is not None and subprocess.run([unshare, *words], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="this host gives no mount namespace")
def test_a_disk_that_is_full_is_told_once_and_reading_goes_on(tmp_path: Path) -> None:
    words = ["unshare", "-rm", "sh", "-c", TINY_DISK, "sh", str(tmp_path)]
    note, fault = run_full_disk(words, tmp_path / "replies.sqlite", 0)
    assert note.startswith(
        f"The cache of model replies cannot be written: {tmp_path}/replies.sqlite (the disk is full)."
    )
    assert fault == "cache.unusable Free some space, or set EVALSI_CACHE_DIR to a folder elsewhere."


ALONE = "PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE"


def test_a_file_that_another_process_holds_at_the_start_is_told_and_the_run_goes_on(path: Path) -> None:
    fill(path, range(COUNT))
    with held(path, *ALONE):
        hits, [note], fault = use(path)
    assert (hits, fault) == (set(), "cache.unusable")
    assert f"{path} (another process holds it). Wait until it is done, or end it." in note
    assert use(path) == (set(range(COUNT)), [], None)


def test_a_file_that_another_process_writes_to_for_long_is_still_read_and_no_longer_written(path: Path) -> None:
    fill(path, [1])
    notes: list[str] = []

    async def work() -> None:
        cache = ReplyCache(path, notes.append, wait_s=0.2)
        await cache.start()
        with held(path, "BEGIN IMMEDIATE"):
            cache.put(key(2), reply(2))
            assert await cache.get(key(2).digest) == reply(2)
            await cache.close()
            assert cache.fault is not None
        again = ReplyCache(path, notes.append, wait_s=0.2)
        assert await again.get(key(1).digest) == reply(1)
        assert await again.get(key(2).digest) is None
        await again.close()

    bounded(work)
    [note] = notes
    assert "cannot be written" in note
    assert "another process holds it" in note


def test_a_write_waits_for_another_process_that_lets_go_in_time(path: Path) -> None:
    fill(path, [1])

    async def work() -> list[str]:
        notes: list[str] = []
        cache = ReplyCache(path, notes.append)
        await cache.start()
        with held(path, "BEGIN IMMEDIATE") as let_go:
            cache.put(key(2), reply(2))
            let_go()
        await cache.close()
        return notes

    assert bounded(work) == []
    assert bounded(lambda: found(path, [1, 2])) == ({1, 2}, [])


def locks_out_readers(path: Path) -> Path:
    """Where shared memory is not to be had, SQLite has no write-ahead log, and who writes locks out who reads."""
    sql(path, "PRAGMA journal_mode=DELETE")
    return path


def test_a_read_waits_for_another_process_without_holding_up_the_loop(path: Path) -> None:
    locks_out_readers(fill(path, [1]))

    async def work() -> None:
        cache = ReplyCache(path)
        await cache.start()
        with held(path, "BEGIN EXCLUSIVE") as let_go:
            reading = asyncio.create_task(cache.get(key(1).digest))
            done, _ = await asyncio.wait([reading], timeout=0.1)
            assert not done
            let_go()
            assert await reading == reply(1)
        await cache.close()
        assert cache.fault is None

    bounded(work)


def test_a_lock_that_stays_is_waited_for_once_and_told_once(path: Path) -> None:
    locks_out_readers(fill(path, range(COUNT)))
    notes: list[str] = []

    async def work() -> None:
        cache = ReplyCache(path, notes.append, wait_s=0.2)
        await cache.start()
        with held(path, "BEGIN EXCLUSIVE"):
            for number in range(COUNT):
                assert await cache.get(key(number).digest) is None
        # It is free again, and so is used again.
        assert await cache.get(key(1).digest) == reply(1)
        await cache.close()

    bounded(work)
    assert notes == [f"Another process holds {path}; replies that cannot be read meanwhile are asked for, and paid."]


def test_a_file_that_is_removed_in_mid_run_costs_the_run_nothing(path: Path) -> None:
    fill(path, range(COUNT))

    async def work() -> None:
        cache = ReplyCache(path)
        await cache.start()
        shutil.rmtree(path.parent)
        assert await cache.get(key(1).digest) == reply(1)
        cache.put(key(COUNT), reply(COUNT))
        assert await cache.get(key(2).digest) == reply(2)
        await cache.close()

    bounded(work)
    assert bounded(lambda: put_all(path, [1])) == []


def test_what_is_no_reply_ends_the_writing_with_a_note_and_not_the_run(path: Path) -> None:
    notes: list[str] = []

    async def work() -> None:
        cache = ReplyCache(path, notes.append)
        await cache.start()
        cache.put(key(1), Reply("text", tokens=Tokens(10**30)))
        await cache.close()

    bounded(work)
    [note] = notes
    assert "cannot be written" in note
