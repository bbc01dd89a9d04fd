"""Position and length bias of a judge that compares two outputs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.length_bias import Compared, leaning, length_bias
from evalsi_calibration.position_bias import position_bias
from evalsi_calibration.shares import Share
from evalsi_calibration.two_outputs import compares_two, longer_by
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo

verdicts = st.sampled_from(["win", "tie", "loss"])


def orders(first: str, second: str) -> dict[str, Any]:
    """What a score's metadata says where the output stood first, and then second."""
    return {"orders": [{"first": "output", "verdict": first}, {"first": "other", "verdict": second}]}


# -- position ------------------------------------------------------------------------------------------------------


def test_a_verdict_that_follows_the_place_is_counted_with_the_way_it_leans() -> None:
    metadata = [orders("win", "win"), orders("win", "loss"), orders("tie", "win"), orders("win", "tie")]
    found = position_bias(metadata)
    assert found is not None
    assert found.changed == Share(3, 4)
    assert found.toward_first == Share(2, 3)


def test_records_that_were_not_asked_in_both_orders_do_not_count() -> None:
    once = {"orders": [{"first": "output", "verdict": "win"}]}
    found = position_bias([{}, once, orders("loss", "loss"), {"orders": "win"}, {"orders": [1, {"first": "output"}]}])
    assert found is not None
    assert found.changed == Share(0, 1)
    assert found.toward_first.value is None
    assert position_bias([{}, once]) is None


@given(st.lists(st.tuples(verdicts, verdicts), min_size=1))
def test_a_judge_that_is_turned_around_leans_to_the_other_place(said: list[tuple[str, str]]) -> None:
    there = position_bias([orders(*one) for one in said])
    back = position_bias([orders(second, first) for first, second in said])
    assert there is not None
    assert back is not None
    assert there.changed == back.changed
    assert there.toward_first.part + back.toward_first.part == there.changed.part


# -- length --------------------------------------------------------------------------------------------------------


def test_the_judge_and_people_are_told_apart_in_their_liking_of_the_longer_one() -> None:
    compared = [
        Compared(100, "loss", "win"),
        Compared(50, "win", "win"),
        Compared(-80, "win", "loss"),
        Compared(-10, "tie", "loss"),
        Compared(0, "win", "loss"),
    ]
    found = length_bias(compared)
    assert found is not None
    assert found.judge.for_longer == Share(4, 4)
    assert found.human.for_longer == Share(1, 3)
    assert found.judge.correlation is not None
    assert found.human.correlation is not None
    assert found.judge.correlation > 0.8
    assert found.human.correlation < -0.5


def test_outputs_of_one_length_say_nothing_of_it() -> None:
    assert length_bias([Compared(0, "win", "loss")]) is None
    assert length_bias([]) is None


def test_ties_alone_leave_the_leaning_undefined() -> None:
    found = leaning([(10, "tie"), (-10, "tie")])
    assert (found.for_longer.value, found.correlation) == (None, None)


@given(st.lists(st.tuples(st.integers(-50, 50).filter(bool), verdicts), min_size=1))
def test_exchanging_the_two_outputs_changes_nothing(said: list[tuple[int, str]]) -> None:
    turned = {"win": "loss", "tie": "tie", "loss": "win"}
    there, back = leaning(said), leaning([(-length, turned[verdict]) for length, verdict in said])
    assert there.for_longer == back.for_longer
    assert there.correlation == pytest.approx(back.correlation, abs=1e-12)


# -- what is compared ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "other", "longer"),
    [
        ("long text", "text", 5),
        ("text", {"text": "long text"}, -5),
        ({"messages": [{"role": "user", "content": "ab"}, {"role": "user", "content": None}]}, "a", 1),
        ("[1, 2]", [1, 2], 0),
        ({"json": {"a": 1}}, {"a": 1}, 0),
        ("", None, None),
    ],
)
def test_lengths_are_counted_in_characters_of_what_is_said(output: Any, other: Any, longer: int | None) -> None:
    assert longer_by({"output": output, "metadata": {"arms": {"b": other}}}, "arms.b") == longer


def test_without_one_of_the_two_there_is_no_difference() -> None:
    assert longer_by({"output": "a"}, "baseline") is None
    assert longer_by({"metadata": {"baseline": "b"}}, "baseline") is None


def test_an_evaluator_that_gives_a_label_and_takes_the_place_of_another_output_compares_two() -> None:
    label = EvaluatorInfo("pairwise", "judge", "1", outputs=(OutputInfo(kind="label"),))
    assert compares_two(Instance(1, "pairwise", label, {"other": "baseline"}))
    assert not compares_two(Instance(1, "topic", label, {}))
    number = label._replace(outputs=(OutputInfo(kind="number"),))
    assert not compares_two(Instance(1, "gain", number, {"other": "baseline"}))
