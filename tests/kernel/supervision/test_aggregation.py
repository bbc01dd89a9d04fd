"""Evaluators of the whole data: whatever breaks on the way is an error of a record or of the whole, never a hang."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.evaluation.states import States
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.supervision.aggregation import aggregate_states
from evalsi_kernel.supervision.connection import RequestFailed
from evalsi_kernel.supervision.launch import Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from evalsi_protocol.errors import WireError
from tests.kernel.supervised import NAUGHTY, answered, bounded, chunk_of, kinds, launch

WHOLES = launch(NAUGHTY / "wholes.py")


def whole(
    evaluator: str, chunks: Sequence[Chunk], *, limits: PoolLimits | None = None, **params: str
) -> tuple[list[list[str]], dict[str, Any] | WireError]:
    """What became of each chunk's records, and of the whole."""

    async def work() -> tuple[list[list[str]], dict[str, Any] | WireError]:
        pool = Pool(WHOLES, [Opening(1, evaluator, params)], limits or PoolLimits())
        await pool.start()
        states = States()
        try:
            columns = [await answered(pool, chunk) for chunk in chunks]
            for column in columns:
                states.add(column)
            try:
                answer: dict[str, Any] | WireError = await aggregate_states(pool, 1, states.parts, 10, 0)
            except RequestFailed as failure:
                answer = failure.error
            return [kinds(column) for column in columns], answer
        finally:
            states.close()
            await asyncio.wait_for(pool.close(), 10)

    return bounded(work)


def test_a_record_that_cannot_be_observed_is_its_own_error_and_the_others_make_the_whole() -> None:
    [column], answer = whole("LongestOutput", [chunk_of(["a", "raise", "four", "nan", "ab"])])
    assert column == ["state", "error", "state", "error", "state"]
    assert isinstance(answer, dict)
    assert (answer["outcome"], answer["payload"]) == ("scored", [{"value": 4.0}])


def test_a_crash_while_the_last_record_is_observed_costs_that_record_and_not_the_whole() -> None:
    [column], answer = whole("LongestOutput", [chunk_of(["a", "four", "die"])])
    assert column == ["state", "state", "error"]
    assert isinstance(answer, dict)
    assert answer["payload"] == [{"value": 4.0}]


def test_states_of_many_megabytes_arrive_in_order_and_whole() -> None:
    columns, answer = whole("LargeStates", [chunk_of(["x"] * 10) for _ in range(4)])
    assert columns == [["state"] * 10] * 4
    assert isinstance(answer, dict)
    assert answer["payload"] == [{"value": 40_000_000.0}]


def test_a_state_that_no_frame_holds_is_an_error_of_its_record() -> None:
    [column], answer = whole("LargeStates", [chunk_of(["x", "x" * 70, "x"])])
    assert column == ["state", "error", "state"]
    assert isinstance(answer, dict)
    assert answer["payload"] == [{"value": 2_000_000.0}]


@pytest.mark.parametrize("how", ["raises", "nan", "nothing"])
def test_a_whole_that_is_no_score_is_an_error(how: str) -> None:
    [column], answer = whole("BreaksAtTheEnd", [chunk_of(["a"] * 3)], how=how)
    assert column == ["state"] * 3
    assert isinstance(answer, dict)
    assert answer["outcome"] == "error"


def test_a_pack_that_crashes_while_it_aggregates_is_asked_once_more(tmp_path: Path) -> None:
    _, answer = whole("BreaksAtTheEnd", [chunk_of(["a"] * 3)], how="dies once", mark=str(tmp_path / "mark"))
    assert isinstance(answer, dict)
    assert answer["payload"] == [{"value": 3.0}]


def test_a_pack_that_crashes_again_while_it_aggregates_is_an_error_with_how_it_ended() -> None:
    _, answer = whole("BreaksAtTheEnd", [chunk_of(["a"] * 3)], how="dies")
    assert isinstance(answer, WireError)
    assert answer.code == "pack.crashed"
    assert "SIGKILL" in answer.message


def test_a_pack_that_never_finishes_aggregating_is_an_error_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalsi_kernel.supervision.aggregation.TIME_FACTOR", 0.01)
    limits = PoolLimits(record_timeout_s=30.0)
    _, answer = whole("BreaksAtTheEnd", [chunk_of(["a"] * 3)], limits=limits, how="hangs")
    assert isinstance(answer, WireError)
    assert answer.code == "pack.timeout"
