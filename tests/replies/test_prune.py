"""Pruning removes what is beyond its bounds and nothing else, and the file becomes smaller by it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from evalsi_kernel.errors import CacheError
from evalsi_replies.contents import contents, size_on_disk
from evalsi_replies.opening import opened
from evalsi_replies.prune import Bounds, prune, would_prune
from tests.replies.kept_replies import bounded, fill, found, held, key, sql

COUNT = 2000
NOW_H = int(time.time() // 3600)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of replies, of which each was last used an hour before the next."""
    path = fill(tmp_path_factory.mktemp("full") / "replies.sqlite", range(COUNT))
    uses = [(NOW_H - number, key(number).digest) for number in range(COUNT)]
    with opened(path) as connection:
        connection.execute("BEGIN")
        connection.executemany("UPDATE replies SET used = ? WHERE digest = ?", uses)
        connection.execute("COMMIT")
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, full: bytes) -> Path:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(full)
    return path


def pruned(path: Path, bounds: Bounds) -> tuple[int, int]:
    """How many would go, and how many went."""
    with opened(path) as connection:
        would = would_prune(connection, bounds)
        went = prune(connection, bounds)
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    return would, went


def left(path: Path) -> set[int]:
    hits, notes = bounded(lambda: found(path, range(COUNT)))
    assert notes == []
    return hits


def test_by_age_goes_what_was_not_used_since(path: Path) -> None:
    before = size_on_disk(path)
    would, went = pruned(path, Bounds(unused_for_s=500 * 3600.0))
    # The hour in which the bound lies may have been used up to its end, so it stays.
    assert would == went == pytest.approx(COUNT - 501, abs=1)
    assert left(path) == set(range(COUNT - went))
    assert size_on_disk(path) < before * 0.35


def test_by_size_go_the_least_recently_used_until_the_file_is_no_larger(path: Path) -> None:
    before = size_on_disk(path)
    would, went = pruned(path, Bounds(max_bytes=before // 2))
    assert before * 0.4 < size_on_disk(path) <= before // 2
    assert left(path) == set(range(COUNT - went))
    assert would == pytest.approx(went, rel=0.1)


@pytest.mark.parametrize("max_bytes", [0, 1, 10_000])
def test_a_size_that_nothing_fits_into_leaves_an_empty_cache(path: Path, max_bytes: int) -> None:
    assert pruned(path, Bounds(max_bytes=max_bytes)) == (COUNT, COUNT)
    assert left(path) == set()


def test_a_size_that_all_fits_into_removes_nothing(path: Path) -> None:
    assert pruned(path, Bounds(max_bytes=size_on_disk(path))) == (0, 0)


def test_by_age_and_size_goes_what_either_removes(path: Path) -> None:
    before = size_on_disk(path)
    assert pruned(path, Bounds(unused_for_s=500 * 3600.0, max_bytes=before))[1] == pytest.approx(COUNT - 501, abs=1)
    would, went = pruned(path, Bounds(unused_for_s=490 * 3600.0, max_bytes=before // 8))
    assert would == pytest.approx(went, rel=0.2)
    assert size_on_disk(path) <= before // 8
    assert len(left(path)) < 300


def test_by_model_goes_that_model_and_its_age_counts_only_for_it(path: Path) -> None:
    fill(path, range(100), model="large-1")
    sql(path, "UPDATE replies SET used = ? WHERE model = 'large-1' AND rowid % 2 = 0", NOW_H - 10_000)
    assert pruned(path, Bounds(unused_for_s=9_000 * 3600.0, model="large-1")) == (50, 50)
    assert pruned(path, Bounds(model="large-1")) == (50, 50)
    assert left(path) == set(range(COUNT))


def test_room_is_given_back_also_where_what_went_lay_scattered(path: Path) -> None:
    before = size_on_disk(path)
    sql(path, "UPDATE replies SET model = 'large-1' WHERE rowid % 3 = 0")
    went = COUNT // 3
    assert pruned(path, Bounds(model="large-1")) == (went, went)
    # Without moving what is left together, nearly all pages would stay.
    assert size_on_disk(path) < before * 0.75
    assert len(left(path)) == COUNT - went


def test_everything_goes(path: Path) -> None:
    assert pruned(path, Bounds(everything=True)) == (COUNT, COUNT)
    assert size_on_disk(path) < 50_000
    assert left(path) == set()
    assert pruned(path, Bounds(everything=True)) == (0, 0)


def test_no_bound_removes_nothing(path: Path) -> None:
    assert pruned(path, Bounds()) == (0, 0)


def test_a_file_that_another_process_holds_for_long_is_looked_into_and_not_pruned(path: Path) -> None:
    with held(path, "BEGIN IMMEDIATE"):
        with opened(path, wait_s=0.1) as connection:
            assert sum(share.entries for share in contents(connection)) == COUNT
        with pytest.raises(CacheError, match="another process holds it"), opened(path, wait_s=0.1) as connection:
            prune(connection, Bounds(everything=True))
    assert left(path) == set(range(COUNT))


def test_what_is_kept_is_counted_by_model_without_hits_that_nobody_counts(path: Path) -> None:
    fill(path, range(3), model="large-1")
    sql(path, "UPDATE replies SET created = 10 * 3600 + rowid, used = 12 WHERE model = 'large-1'")
    with opened(path) as connection:
        small, large = contents(connection)
    assert (small.model, small.entries, large.model, large.entries) == ("small-1", COUNT, "large-1", 3)
    assert large.oldest_s < large.newest_s == large.oldest_s + 2
    assert large.used_s == 12 * 3600
    assert small.size_bytes > COUNT * 700
    assert set(small._fields) == {"model", "entries", "size_bytes", "oldest_s", "newest_s", "used_s"}
