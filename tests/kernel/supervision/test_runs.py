"""A run of verdicts is worth its items: the same outcomes, the same faults, the same sums."""

from __future__ import annotations

from math import isnan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.item_buffer import items_of
from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.supervision.score_request import ScoreRequest
from evalsi_protocol.frames import Packed
from tests.kernel.data_path import tally

SIZE = 5
SESSIONS = (1, 2)
places = st.integers(-2, SIZE + 2)
odd = st.sampled_from([None, 1, 0, 1.0, "x", float("nan"), float("inf"), [True], {"passed": True}])
verdicts = st.booleans() | st.floats(0, 1) | odd
columns_of_values = st.lists(st.booleans(), max_size=SIZE + 2) | st.lists(verdicts, max_size=SIZE + 2)
keys = st.sampled_from(["passed", "value", "label"])
plain = st.tuples(st.just(""), keys, columns_of_values).map(lambda column: [[*column]])


@st.composite
def named(draw: st.DrawFn) -> list[list[Any]]:
    """Up to three columns of one length."""
    size = draw(st.integers(0, SIZE + 2))
    column = st.tuples(st.sampled_from(["", "a", "b"]), keys, st.lists(verdicts, min_size=size, max_size=size))
    return [[*one] for one in draw(st.lists(column, min_size=1, max_size=3))]


runs = st.tuples(st.integers(0, 3), places, plain | named()).map(list)


def request_of(indices: list[int] | None) -> ScoreRequest:
    chunk = Chunk(Packed(), [str(index) for index in range(SIZE)], list(range(SIZE)))
    chunk.expect(SESSIONS)
    request = ScoreRequest(chunk, SESSIONS, indices)
    if indices:
        # One session has answered of the first record already, so that another answer is one too many.
        chunk.put(1, indices[0], ("scored", [{"passed": False}]))
    return request


@given(st.lists(runs, max_size=4), st.none() | st.lists(st.integers(0, SIZE - 1), min_size=1, unique=True).map(sorted))
def test_runs_mean_their_items_and_so_do_the_faults_in_them(given_runs: list[Any], indices: list[int] | None) -> None:
    by_run, by_item = request_of(indices), request_of(indices)
    by_run.take_runs(given_runs)
    for run in given_runs:
        by_item.take(items_of(run))
    assert repr(by_run.chunk.columns) == repr(by_item.chunk.columns)
    assert by_run.chunk.unanswered == by_item.chunk.unanswered
    assert bool(by_run.fault) == bool(by_item.fault)


@pytest.mark.parametrize(
    "run",
    [
        None,
        7,
        "text",
        [],
        [1, 0],
        [1, 0, "passed"],
        [1, 0, []],
        [1, 0, [None]],
        [1, 0, ["passed", [True]]],
        [1, 0, [["passed", [True]]]],
        [1, 0, [["", "passed", True]]],
        [1, 0, [["", "passed", "text"]]],
        [1, 0, [["", "passed", {"0": True}]]],
        [1, 0, [["", "scored", [True]]]],
        [1, 0, [["", ["passed"], [True]]]],
        [1, 0, [[1, "passed", [True]]]],
        [1, 0, [["a", "passed", [True]], ["b", "passed", [True, True]]]],
        [1, 0.0, [["", "passed", [True]]]],
        [1, True, [["", "passed", [True]]]],
        [1, "0", [["", "passed", [True]]]],
        [[1], 0, [["", "passed", [True]]]],
        [3, 0, [["", "passed", [True]]]],
    ],
)
def test_a_run_of_another_form_is_a_fault_and_costs_no_record_its_outcome(run: Any) -> None:
    request = request_of(None)
    request.take_runs([run, [1, 0, [["", "passed", [True] * SIZE]]], [2, 0, [["", "value", [0.5] * SIZE]]]])
    assert "does not match the request" in request.fault
    assert request.chunk.unanswered == 0
    assert request.chunk.columns[1] == [("scored", [{"passed": True}])] * SIZE


def test_a_run_far_longer_than_the_chunk_costs_no_more_than_the_chunk() -> None:
    request = request_of(None)
    request.take_runs([[1, -(2**62), [["", "passed", [True] * 10]]], [1, 2, [["", "passed", [True] * 1_000_000]]]])
    assert [outcome is not None for outcome in request.chunk.columns[1]] == [False, False, True, True, True]
    assert request.fault


@given(st.sampled_from(["passed", "value"]), st.lists(verdicts, min_size=SIZE, max_size=SIZE))
def test_verdicts_from_runs_are_checked_and_added_up_like_those_from_items(key: str, values: list[Any]) -> None:
    request = request_of(None)
    request.take_runs([[1, 0, [["", key, values]]]])
    apart: list[Outcome | None] = [("scored", [{key: value}]) for value in values]
    output = OutputInfo("", "pass" if key == "passed" else "number")
    found, expected = tally(output), tally(output)
    found.add(request.chunk.columns[1], None)
    expected.add(apart, None)
    assert repr(found.summaries(None)) == repr(expected.summaries(None))
    assert repr(request.chunk.columns[1]) == repr(apart)
    assert found.errors == sum(not _stands(key, value) for value in values)


def _stands(key: str, value: Any) -> bool:
    if key == "passed":
        return type(value) is bool
    return type(value) in (int, float) and not isnan(value) and abs(value) != float("inf")
