"""How long an evaluation took: taken beside its outcome, ignored where it is no duration, told in its result."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evalsi
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.results.results_file import ResultsSpool
from evalsi_kernel.supervision.score_request import ScoreRequest
from evalsi_protocol.frames import Packed
from tests.kernel.data_path import instance

PASS = [{"passed": True}]


def taken(*items: Any, sessions: tuple[int, ...] = (1,), indices: list[int] | None = None) -> ScoreRequest:
    """A request of three records that took these items."""
    chunk = Chunk(Packed(b"\x93\x80\x80\x80"), ["a", "b", "c"], [0, 1, 2])
    chunk.expect(sessions)
    request = ScoreRequest(chunk, sessions, indices)
    request.take([*items])
    return request


def test_a_duration_stands_beside_the_outcome_of_its_record() -> None:
    chunk = taken([1, 1, "scored", PASS, 12.5], [2, 0, "skipped", {"reason": "no"}, 3], sessions=(1, 2)).chunk
    assert chunk.columns == {1: [None, ("scored", PASS), None], 2: [("skipped", {"reason": "no"}), None, None]}
    assert chunk.durations == {1: {1: 12.5}, 2: {0: 3}}
    assert taken([1, 0, "scored", PASS, 2.0], indices=[2]).chunk.durations == {1: {2: 2.0}}


@pytest.mark.parametrize("ms", [0, 0.0, -1, -0.5, None, True, "12", [1], {"ms": 1}, float("nan"), float("inf")])
def test_what_is_no_duration_is_ignored_and_the_outcome_stands(ms: Any) -> None:
    request = taken([1, 0, "scored", PASS, ms])
    assert request.chunk.columns == {1: [("scored", PASS), None, None]}
    assert (request.chunk.durations, request.fault) == ({}, "")


def test_a_record_that_is_answered_twice_keeps_no_duration_of_either() -> None:
    chunk = taken([1, 0, "scored", PASS, 5.0], [1, 0, "scored", PASS, 7.0]).chunk
    assert [outcome and outcome[0] for outcome in chunk.columns[1]] == ["error", None, None]
    assert chunk.durations == {1: {}}


def test_a_result_tells_how_long_it_took_and_one_that_did_not_say_has_no_such_key() -> None:
    items = [[0, 0, "scored", PASS, 12.5], [0, 1, "scored", PASS], [0, 2, "error", {"message": "no"}, 3]]
    spool = ResultsSpool()
    spool.add(taken(*items, sessions=(0,)).chunk, [instance("judge")], {0: [["r1"], ["r2"], []]})
    results = [json.loads(json.dumps(one)) for one in spool.results()]
    spool.close()
    assert [one.get("duration_ms") for one in results] == [12.5, None, 3]
    assert ["duration_ms" in one for one in results] == [True, False, True]
    assert [one.get("judge_calls") for one in results] == [["r1"], ["r2"], None]


def test_results_of_an_evaluator_that_waits_tell_how_long_each_took() -> None:
    @evalsi.evaluator(name="waits", version=1, needs=("output",))
    async def waits(record: evalsi.Record) -> bool:
        return True

    found = evalsi.evaluate(data=[{"output": "a"}, {"input": "b"}], evaluators=[waits], quiet=True)
    assert [one["outcome"] for one in found.results] == ["scored", "skipped"]
    assert all(one["duration_ms"] > 0 for one in found.results)
