"""A dry run looks at the cache and leaves no mark: no file is made, none is changed, none is set aside."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evalsi_replies.glance import GlancedReplies
from tests.replies.kept_replies import bounded, key, put_all, reply, sql


def glanced(path: Path, *numbers: int) -> tuple[set[int], list[str]]:
    """The numbers whose replies are seen, each as it was put, and the notes."""
    notes: list[str] = []

    async def work() -> set[int]:
        look, hits = GlancedReplies(path, notes.append), set()
        for number in numbers:
            seen = await look.get(key(number).digest)
            if seen is not None:
                assert seen == reply(number)
                hits.add(number)
        look.put(key(99), reply(99))
        assert not await look.written()
        await look.close()
        return hits

    return bounded(work), notes


def state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns


def test_without_a_file_nothing_is_kept_and_none_is_made(tmp_path: Path) -> None:
    assert glanced(tmp_path / "judge" / "replies.sqlite", 1) == (set(), [])
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_seen_and_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    bounded(lambda: put_all(path, range(3)))
    sql(path, "UPDATE replies SET used = 1")
    before = state(path)
    assert glanced(path, 0, 2, 7) == ({0, 2}, [])
    assert state(path) == before


def test_an_empty_file_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.touch()
    assert glanced(path, 1) == (set(), [])
    assert path.read_bytes() == b""
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_damaged_or_newer_file_is_told_once_and_left_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(b"no database at all" * 100)
    seen, (note,) = glanced(path, 1, 2)
    assert seen == set()
    assert "is damaged" in note
    assert note.endswith("The calls that it would spare are counted as if they were made.")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    path.unlink()
    bounded(lambda: put_all(path, range(3)))
    sql(path, "PRAGMA user_version = 999")
    seen, (note,) = glanced(path, 1, 2)
    assert seen == set()
    assert "written by a newer version" in note


def test_a_reply_that_rotted_is_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    bounded(lambda: put_all(path, range(2)))
    sql(path, "UPDATE replies SET reply = X'00' WHERE digest = ?", key(0).digest)
    assert glanced(path, 0, 1) == ({1}, [])
