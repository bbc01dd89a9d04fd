"""Test when a pack reports the durations of evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evalsi import Record, Score, Skip, evaluator
from evalsi_protocol.methods import ITEM_DURATIONS, ITEM_RUNS
from tests.protocol.kernel_end import serving, texts

RESULTS: dict[str, Callable[[], Any]] = {
    "bare": lambda: True,
    "two": lambda: [Score(name="a", value=1.0), Score(name="b", value=2.0)],
    "explained": lambda: Score(passed=False, explanation="so"),
    "none": lambda: None,
}


class Clock:
    """A clock that goes on as an evaluator says, and at no other time."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def spend(self, record: Record) -> Any:
        """What a record's output asks for, after as many milliseconds as it says."""
        what, took_ms = record.output_text.split()
        self.now_s += float(took_ms) / 1000
        if what == "skip":
            raise Skip("no")
        return RESULTS[what]()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("evalsi.scoring.monotonic", clock)
    monkeypatch.setattr("evalsi.async_scoring.monotonic", clock)
    return clock


def scored(made: Any, outputs: list[str], capabilities: list[str]) -> tuple[list[list[Any]], list[list[Any]]]:
    """The items, in the order of the records, and the runs."""
    with serving(made, capabilities=capabilities) as kernel:
        kernel.open(1, "told")
        _, items = kernel.score(texts(*outputs), 1)
        (runs,) = [runs for runs in kernel.runs.values() if runs] or [[]]
    return sorted(items, key=lambda item: int(item[1])), runs


def quick(clock: Clock) -> Any:
    @evaluator(name="told", version=1)
    def told(record: Record) -> Any:
        return clock.spend(record)

    return told


def waiting(clock: Clock) -> Any:
    @evaluator(name="told", version=1)
    async def told(record: Record) -> Any:
        return clock.spend(record)

    return told


@pytest.mark.spec("ITM-9")
def test_an_evaluation_of_a_millisecond_says_so_and_quicker_ones_are_the_run_that_they_were(clock: Clock) -> None:
    outputs = ["bare 0", "bare 0.9", "bare 1.25", "bare 0", "two 0", "two 3", "explained 0", "explained 2", "skip 2"]
    items, runs = scored(quick(clock), [*outputs, "none 7", "none 0", "skip 0"], [ITEM_RUNS, ITEM_DURATIONS])
    assert [(first, len(columns[0][2])) for _, first, columns in runs] == [(0, 2), (3, 1), (4, 1)]
    assert [[item[1], item[2], *item[4:]] for item in items] == [
        [2, "scored", 1.25],
        [5, "scored", 3.0],
        [6, "scored"],
        [7, "scored", 2.0],
        [8, "skipped", 2.0],
        [9, "error", 7.0],
        [10, "error"],
        [11, "skipped"],
    ]
    assert items[1][3] == [{"name": "a", "value": 1.0}, {"name": "b", "value": 2.0}]


@pytest.mark.spec("ITM-9")
def test_an_evaluator_that_waits_says_of_each_record_how_long_and_never_nothing(clock: Clock) -> None:
    items, runs = scored(waiting(clock), ["bare 250", "bare 0", "skip 0.5", "none 4"], [ITEM_RUNS, ITEM_DURATIONS])
    assert [[item[2], *item[4:]] for item in items] == [
        ["scored", 250.0],
        ["scored", 0.001],
        ["skipped", 0.5],
        ["error", 4.0],
    ]
    assert runs == []


@pytest.mark.spec("ITM-8")
@pytest.mark.parametrize("capabilities", [[], [ITEM_RUNS]])
@pytest.mark.parametrize("make", [quick, waiting])
def test_a_kernel_that_takes_no_durations_gets_none(
    make: Callable[[Clock], Any], capabilities: list[str], clock: Clock
) -> None:
    items, runs = scored(make(clock), ["bare 5", "explained 5", "two 5", "skip 5", "none 5"], capabilities)
    assert {len(item) for item in items} == {4}
    assert len(items) + len(runs) == 5


def test_what_a_dataset_scope_evaluator_keeps_of_a_record_is_no_result_and_says_nothing(clock: Clock) -> None:
    @evaluator(name="told", version=1, scope="dataset")
    class Told:
        """Keeps whatever it is told."""

        def observe(self, record: Record) -> Any:
            return clock.spend(record)

        def aggregate(self, states: Any) -> float:
            return float(len(states))

    items, _ = scored(Told, ["bare 5"], [ITEM_RUNS, ITEM_DURATIONS])
    assert items == [[1, 0, "state", {"state": True}]]
