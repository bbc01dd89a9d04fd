"""A cache file keeps what has its key, and the folder does not grow with each project that was ever looked at."""

from __future__ import annotations

import os
from pathlib import Path

from evalsi_kernel.files.cache_file import MOST_FILES, cache_path, read_cached, write_cached


def test_what_was_kept_is_read_under_its_key_only(tmp_path: Path) -> None:
    path = cache_path(tmp_path, "catalog", "/a/project")
    assert write_cached(path, ["key"], {"value": 1}) == ""
    assert read_cached(path, ["key"]) == {"value": 1}
    assert read_cached(path, ["other"]) is None


def test_the_oldest_of_a_stem_go_once_there_are_many(tmp_path: Path) -> None:
    other = cache_path(tmp_path, "listing", "of another stem")
    write_cached(other, 0, "stays")
    os.utime(other, (1, 1))
    paths = [cache_path(tmp_path, "catalog", f"/project/{number}") for number in range(MOST_FILES + 10)]
    for age, path in enumerate(reversed(paths)):
        write_cached(path, 0, age)
        os.utime(path, (1000 + age, 1000 + age))
    write_cached(paths[0], 0, "last")
    assert other.exists()
    assert [path.exists() for path in paths] == [True] * MOST_FILES + [False] * 10


def test_a_folder_that_cannot_be_written_is_told_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = write_cached(cache_path(tmp_path / "file", "catalog", "x"), 0, 0)
    assert "cannot be written" in told
