"""Runs are equivalent to items, and are sent only to kernels that support them."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record, Score, Skip, evaluator
from evalsi.item_buffer import items_of
from evalsi_protocol.methods import ITEM_RUNS
from tests.protocol.kernel_end import BOUND_S, Answer, serving, texts

RESULTS: dict[str, Any] = {
    "pass": True,
    "fail": False,
    "float": 0.25,
    "int": 3,
    "label": "good",
    "nan": float("nan"),
    "plain score": Score(passed=True),
    "score of a number": Score(value=0.5),
    "named score": Score(name="n", value=0.5),
    "explained": Score(passed=False, explanation="so"),
    "two": [Score(name="a", value=1.0), Score(name="b", value=2.0)],
    "unsendable": Score(label="\ud800"),
    "nothing": None,
}


@evaluator(name="told", version=1, needs=("output",))
def told(record: Record) -> Any:
    """What the output asks for."""
    return RESULTS[record.output_text]


@evaluator(name="long", version=1)
def long(record: Record) -> Any:
    """Whether the output is long; skips some."""
    if record.output_text.startswith("n"):
        raise Skip("no")
    return len(record.output_text) > 5


@evaluator(name="whole", version=1, scope="dataset")
class Whole:
    """Keeps a bool, a float or a list of each record, none of which is a verdict."""

    def observe(self, record: Record) -> Any:
        return RESULTS[record.output_text] if record.output_text in ("pass", "float") else [1.0]

    def aggregate(self, states: Any) -> float:
        return float(len(states))


SESSIONS = {1: "told", 2: "long", 3: "whole"}


def scored(outputs: list[str], capabilities: list[str]) -> tuple[Answer, list[Any], list[Any]]:
    """The answer, the items and the runs for records with these outputs and three sessions."""
    with serving(told, long, Whole, capabilities=capabilities) as kernel:
        for session, name in SESSIONS.items():
            kernel.open(session, name)
        answer, items = kernel.score([*texts(*outputs), {"id": "lacks an output"}], *SESSIONS)
        (runs,) = [runs for runs in kernel.runs.values() if runs] or [[]]
    return answer, items, runs


@pytest.mark.spec("ITM-6", "ITM-7", "SCO-1", "SCO-3")
@pytest.mark.parametrize("most", [4, 1024])
@given(outputs=st.lists(st.sampled_from([*RESULTS]) | st.sampled_from(["pass", "fail", "float"]), max_size=20))
def test_a_kernel_that_takes_runs_is_told_what_any_other_is(most: int, outputs: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evalsi.scoring.MAX_ITEMS", most)
        answer, items, none = scored(outputs, [])
        same, rest, runs = scored(outputs, [ITEM_RUNS])
    assert none == []
    assert same == answer
    assert sorted([*rest, *(item for run in runs for item in items_of(run))], key=str) == sorted(items, key=str)
    assert len(items) == (len(outputs) + 1) * len(SESSIONS)


def test_bare_verdicts_of_one_kind_that_follow_one_another_are_one_run() -> None:
    outputs = ["pass", "plain score", "fail", "float", "score of a number", "int", "label", "fail"]
    _, items, runs = scored(outputs, [ITEM_RUNS])
    assert [run for run in runs if run[0] == 1] == [
        [1, 0, [["", "passed", [True, True, False]]]],
        [1, 3, [["", "value", [0.25, 0.5, 3.0]]]],
        [1, 7, [["", "passed", [False]]]],
    ]
    assert [item[:3] for item in items if item[0] == 1] == [[1, 6, "scored"], [1, 8, "skipped"]]


def test_scores_of_the_same_names_that_follow_one_another_are_one_run_with_a_column_each() -> None:
    _, items, runs = scored(["two", "two", "named score", "pass", "two"], [ITEM_RUNS])
    assert [run for run in runs if run[0] == 1] == [
        [1, 0, [["a", "value", [1.0, 1.0]], ["b", "value", [2.0, 2.0]]]],
        [1, 2, [["n", "value", [0.5]]]],
        [1, 3, [["", "passed", [True]]]],
        [1, 4, [["a", "value", [1.0]], ["b", "value", [2.0]]]],
    ]
    assert [item[:3] for item in items if item[0] == 1] == [[1, 5, "skipped"]]


@pytest.mark.spec("PNG-2", "ITM-6")
def test_a_ping_brings_the_run_so_far_and_the_rest_goes_on_behind_it() -> None:
    entered, go_on = threading.Event(), threading.Event()

    @evaluator(name="slow", version=1)
    def slow(record: Record) -> bool:
        if record.id == "2":
            entered.set()
            assert go_on.wait(BOUND_S)
        return True

    with serving(slow, capabilities=[ITEM_RUNS]) as kernel:
        kernel.open(1, "slow")
        request_id = kernel.start("score", {"sessions": [1], "records": texts(*"abcd")})
        assert entered.wait(BOUND_S)
        kernel.ask("ping", {})
        first = [1, 0, [["", "passed", [True, True]]]]
        assert kernel.runs[request_id] == [first]
        go_on.set()
        assert kernel.wait_for(request_id) == {"outcomes": {"scored": 4}}
        assert kernel.runs[request_id] == [first, [1, 2, [["", "passed", [True, True]]]]]
        assert kernel.items[request_id] == []
