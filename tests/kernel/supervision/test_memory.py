"""A pack's memory is bounded from outside: whoever asks for more than there is loses one record, never the machine."""

from __future__ import annotations

import sys

import pytest

from evalsi_kernel.planning.launches import HARD_LIMIT_FACTOR
from evalsi_kernel.supervision.launch import Launch, PoolLimits
from tests.kernel.supervised import NAUGHTY, chunk_of, kinds, launch, score

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are set from outside on Linux only")


def limited(megabytes: int) -> Launch:
    started = launch(NAUGHTY / "loud.py")
    assert started.command is not None
    limit = megabytes * 1024 * 1024 * HARD_LIMIT_FACTOR
    return started._replace(command=started.command._replace(memory_limit_bytes=limit))


def test_a_record_that_takes_memory_without_end_ends_as_one_error_and_its_process_is_replaced() -> None:
    chunks = [chunk_of(["a", "bad", "a"]), chunk_of(["a"] * 3)]
    limits = PoolLimits(memory_bytes=150 * 1024 * 1024)
    columns, pool = score(limited(150), "asks_for_endless_memory", *chunks, limits=limits)
    assert [kinds(column) for column in columns] == [["scored", "error", "scored"], ["scored"] * 3]
    assert columns[0][1] is not None
    assert "MemoryError" in columns[0][1][1]["message"]
    assert pool.replacements == 1


def test_a_pack_that_dies_for_want_of_memory_loses_one_record_too() -> None:
    columns, pool = score(limited(150), "is_killed_for_want_of_memory", chunk_of(["bad"]), chunk_of(["a", "a"]))
    assert [kinds(column) for column in columns] == [["error"], ["scored"] * 2]
    assert pool.restarts == 1
