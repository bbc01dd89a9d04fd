"""A key finds its entry; a miss names the nearest entry and how it differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_replies.explain import entries_under, nearest_entry
from evalsi_replies.opening import opened
from tests.replies.kept_replies import fill, key, sql


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("explain") / "replies.sqlite", range(50))


def under(path: Path, digits: str) -> list[str]:
    with opened(path) as connection:
        return [entry.digest for entry in entries_under(connection, digits)]


def differs(path: Path, asked: JudgeKey) -> list[str]:
    with opened(path) as connection:
        nearest = nearest_entry(connection, asked.fields)
    assert nearest is not None
    return nearest.differs_in


def test_an_entry_is_found_by_its_digest_and_by_how_that_begins(path: Path) -> None:
    digest = key(7).digest
    assert under(path, digest) == under(path, digest[:16]) == [digest]
    assert len(under(path, "")) == 5
    assert under(path, digest + "0") == []
    assert under(path, key(99).digest) == []


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (key(7, temperature=0.5), ["temperature"]),
        (key(7, seed=1), ["seed"]),
        (key(7, sample=3), ["sample"]),
        (key(7, schema=None), ["schema"]),
        (key(7, model="large-1"), ["identity.model"]),
        (key(99), ["messages.1"]),
        (key(99, temperature=0.5, effort="low"), ["messages.1", "temperature", "effort"]),
    ],
)
def test_a_miss_names_the_parts_in_which_the_nearest_entry_differs(
    path: Path, asked: JudgeKey, expected: list[str]
) -> None:
    assert sorted(differs(path, asked)) == sorted(expected)


def test_of_entries_that_are_as_near_the_newest_is_named(tmp_path: Path) -> None:
    path = fill(tmp_path / "replies.sqlite", range(5))
    sql(path, "UPDATE replies SET created = created + 10 WHERE digest = ?", key(3).digest)
    with opened(path) as connection:
        nearest = nearest_entry(connection, key(99).fields)
    assert nearest is not None
    assert nearest.entry.digest == key(3).digest


def test_an_empty_cache_has_no_nearest_entry(tmp_path: Path) -> None:
    with opened(fill(tmp_path / "replies.sqlite", [])) as connection:
        assert nearest_entry(connection, key(1).fields) is None
