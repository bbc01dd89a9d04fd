"""A damaged file is set aside, told once with what it costs, and no damage ever changes a reply."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from evalsi_replies.cache import ReplyCache
from evalsi_replies.cache_repair import set_aside_before
from evalsi_replies.cache_store import lock_path
from tests.replies.kept_replies import COUNT, bounded, fill, key, reply, sql, use


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judge" / "replies.sqlite"


def garble(path: Path, at: int, size: int, seed: int = 0) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(random.Random(seed).randbytes(size))


@pytest.mark.parametrize("content", [b"I am no database. " * 300, b"\0" * 9000])
def test_a_file_that_is_no_database_is_set_aside_and_a_new_one_begun(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    hits, [note], fault = use(path)
    [aside] = set_aside_before(path)
    assert (hits, fault) == (set(), None)
    assert f"was damaged: {path}. It is kept as {aside}. A new one is begun" in note
    assert note.endswith("made again, and paid.")
    assert aside.read_bytes() == content
    assert use(path) == (set(range(COUNT)), [], None)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_a_file_that_was_cut_off_is_set_aside_and_a_new_one_begun(path: Path, share: float) -> None:
    size = fill(path, range(COUNT)).stat().st_size
    os.truncate(path, int(size * share))
    hits, [note], fault = use(path)
    assert (hits, fault) == (set(), None)
    assert "A new one is begun" in note
    assert use(path) == (set(range(COUNT)), [], None)


def test_a_file_that_proves_damaged_in_mid_run_is_set_aside_at_once_and_what_it_gave_was_right(path: Path) -> None:
    fill(path, range(COUNT))
    garble(path, 60 * 4096, 10 * 4096)
    hits, notes, fault = use(path)
    [aside] = set_aside_before(path)
    assert 0 < len(hits) < COUNT
    assert fault == "cache.corrupt"
    assert notes[-1].startswith(f"The cache of model replies is damaged: {path} (")
    assert notes[-1].endswith(f"This run goes on without it: each call is made, and paid. It is kept as {aside}.")
    assert use(path) == (set(), [], None)
    assert use(path) == (set(range(COUNT)), [], None)


@pytest.mark.parametrize("seed", range(12))
def test_no_damage_ever_changes_a_reply(path: Path, seed: int) -> None:
    size = fill(path, range(COUNT)).stat().st_size
    choice = random.Random(seed)
    garble(path, choice.randrange(100, size - 6000), choice.choice([1, 60, 6000]), seed)
    hits, notes, _ = use(path)  # Compares each.
    assert len(hits) == COUNT or notes


def test_a_reply_that_rotted_is_asked_for_again_and_the_rest_is_used(path: Path) -> None:
    fill(path, range(COUNT))
    [(kept,)] = sql(path, "SELECT reply FROM replies WHERE digest = ?", key(7).digest)
    sql(path, "UPDATE replies SET reply = ? WHERE digest = ?", kept.replace(b"well", b"hell"), key(7).digest)
    sql(path, "UPDATE replies SET reply = x'' WHERE digest = ?", key(8).digest)
    hits, [note], fault = use(path)
    assert (hits, fault) == (set(range(COUNT)) - {7, 8}, None)
    assert note == f"A reply in {path} is damaged; it is asked for again, and so is each like it."
    assert use(path) == (set(range(COUNT)), [], None)


def test_a_reply_under_the_key_of_another_is_not_taken_for_its_own(path: Path) -> None:
    fill(path, range(COUNT))
    [(other,)] = sql(path, "SELECT reply FROM replies WHERE digest = ?", key(8).digest)
    sql(path, "UPDATE replies SET reply = ? WHERE digest = ?", other, key(7).digest)
    assert use(path)[0] == set(range(COUNT)) - {7}


def test_a_damaged_file_that_proves_so_in_mid_run_and_cannot_be_set_aside_is_told(path: Path) -> None:
    fill(path, range(COUNT))
    garble(path, 60 * 4096, 10 * 4096)
    # Nothing can be locked where a folder has the lock's name.
    lock_path(path).unlink()
    lock_path(path).mkdir()
    _, notes, fault = use(path)
    assert fault == "cache.corrupt"
    assert notes[-1].endswith(
        f"each call is made, and paid. It cannot be set aside ([Errno 21] Is a directory: '{lock_path(path)}')."
    )


def test_a_file_that_proves_damaged_when_it_is_written_is_set_aside_at_the_end(path: Path) -> None:
    size = fill(path, range(COUNT)).stat().st_size
    notes: list[str] = []

    async def work() -> None:
        cache = ReplyCache(path, notes.append)
        await cache.start()
        garble(path, 5 * 4096, size - 5 * 4096)
        for number in range(COUNT):
            cache.put(key(number), reply(number + 1))
        await cache.close()
        assert cache.fault is not None
        assert cache.fault.code == "cache.corrupt"

    bounded(work)
    [note], [aside] = notes, set_aside_before(path)
    assert note.endswith(f"each call is made, and paid. It is kept as {aside}.")
    assert not path.exists()
