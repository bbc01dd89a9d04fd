"""E14: a record that holds its pack's interpreter ends as one timeout after one wait; all others are scored."""

from __future__ import annotations

from time import monotonic

import pytest

from evalsi_kernel.supervision.launch import PoolLimits
from evalsi_kernel.supervision.progress import make_progress
from tests.kernel.supervised import NAUGHTY, chunk_of, kinds, launch, score, without_progress

REGEXES = launch(NAUGHTY / "regexes.py")
HANGS = "b" * 45 + "c"


@pytest.mark.parametrize("evaluator", ["matches", "matches_async", "matches_in_a_task"])
@pytest.mark.parametrize("max_requests", [1, 4])
def test_e14_a_regex_that_backtracks_costs_its_record_alone_and_one_wait(evaluator: str, max_requests: int) -> None:
    outputs = ["bb"] * 20 + [HANGS] + ["c"] * 20
    limits = PoolLimits(record_timeout_s=1.0, max_requests=max_requests)
    began = monotonic()
    columns, pool = score(REGEXES, evaluator, chunk_of(outputs), chunk_of(["bb", "c"]), limits=limits)
    assert kinds(columns[0]) == ["scored"] * 20 + ["error"] + ["scored"] * 20
    assert columns[0][20] is not None
    assert columns[0][20][1]["code"] == "pack.timeout"
    assert kinds(columns[1]) == ["scored", "scored"]
    assert pool.restarts == 1
    # Halving the suspects would take one more wait for each of five halvings.
    assert monotonic() - began < 5 * limits.record_timeout_s + 5


def test_e14_several_records_that_hang_are_each_a_timeout() -> None:
    outputs = ["bb", HANGS, "c", HANGS, "bb"]
    [column], pool = score(REGEXES, "matches", chunk_of(outputs), limits=PoolLimits(record_timeout_s=0.5))
    assert kinds(column) == ["scored", "error", "scored", "error", "scored"]
    assert [outcome[1]["code"] for outcome in column if outcome and outcome[0] == "error"] == ["pack.timeout"] * 2
    assert pool.restarts == 2


def test_e14_where_the_pack_cannot_say_which_record_hangs_the_suspects_are_halved() -> None:
    outputs = ["bb", HANGS, "c"]
    [column], _ = score(
        without_progress(REGEXES), "matches", chunk_of(outputs), limits=PoolLimits(record_timeout_s=0.5)
    )
    assert kinds(column) == ["scored", "error", "scored"]


def test_e14_a_regex_in_a_thread_costs_one_record() -> None:
    limits = PoolLimits(record_timeout_s=0.5, concurrency=1)
    [column], _ = score(REGEXES, "matches_in_a_thread", chunk_of(["bb", HANGS, "c"]), limits=limits)
    assert kinds(column) == ["scored", "error", "scored"]


def test_e14_shared_memory_without_a_record_says_that_there_is_none() -> None:
    progress = make_progress()
    assert progress is not None
    assert progress.read() is None
    progress.close()
    progress.close()
    assert progress.read() is None
