"""Notes of batches: whole or absent, looked after by one run at a time, and read as they were written."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from evalsi_batches.store import BatchFile, BatchStore
from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.judge_key import judge_key
from evalsi_kernel.errors import CacheError

IDENTITY = {"provider": "openai-compatible", "model": "m", "base_url": "http://localhost/v1"}
ASK = Ask(
    ({"role": "system", "content": "Grade."}, {"role": "user", "content": "große 🦉 \ud800 \u2028"}),
    {"type": "object", "properties": {"score": {"type": "integer"}}},
    50,
    temperature=0.5,
    seed=2**63,
    effort="low",
    sample=3,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "judge" / "batches"


def opened(folder: Path) -> BatchStore:
    store = BatchStore(folder)
    store.open()
    return store


def noted(store: BatchStore) -> BatchFile:
    return store.create(IDENTITY, {judge_key(IDENTITY, ASK).digest: ASK}, is_cached=True)


def test_what_is_read_is_what_was_written_to_the_last_part_of_a_key(folder: Path) -> None:
    store = opened(folder)
    file = noted(store)._replace(batch_id="batch_1")
    store.write(file)
    (read,) = opened(folder).all()
    ((custom_id, ask),) = read.asks.items()
    assert judge_key(read.identity, ask).digest == custom_id
    assert read._replace(asks=file.asks) == file


def test_only_the_owner_can_read_what_is_asked(folder: Path) -> None:
    file = noted(opened(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / f"{file.name}.json").stat().st_mode) == 0o600


def test_a_batch_is_looked_after_by_one_run_until_that_ends(folder: Path) -> None:
    one, two = opened(folder), opened(folder)
    file = noted(one)
    assert (one.claim(file.name), two.claim(file.name)) == (True, False)
    one.write(file._replace(batch_id="batch_1"))
    assert not two.claim(file.name), "also once it is written anew"
    one.close()
    assert (two.claim(file.name), one.claim(file.name)) == (True, False)


def test_a_batch_that_is_forgotten_is_gone_for_all(folder: Path) -> None:
    one, two = opened(folder), opened(folder)
    file = noted(one)
    two.remove(file.name)
    two.remove(file.name)
    assert one.all() == []
    assert one.read(file.name) is None
    assert not two.claim(file.name)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2}', '{"version": 1}', '{"version": 1, "asks": {"a": 1}}']
)
def test_what_is_no_note_or_a_newer_one_is_left_alone(folder: Path, text: str) -> None:
    store = opened(folder)
    path = folder / "evalsi-0.json"
    path.write_text(text)
    assert store.all() == []
    assert store.unreadable == {path}
    assert path.read_text() == text


def test_a_note_that_cannot_be_written_leaves_the_one_before_and_an_error_that_says_where(folder: Path) -> None:
    store = opened(folder)
    file = noted(store)
    (folder / f"{file.name}.tmp").mkdir()
    with pytest.raises(CacheError, match="cannot be noted") as caught:
        store.write(file._replace(batch_id="batch_1"))
    assert (str(folder) in caught.value.message, caught.value.code) == (True, "cache.unusable")
    assert store.read(file.name) == file._replace(asks=opened(folder).all()[0].asks)
