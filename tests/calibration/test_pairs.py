"""What people and the evaluator say of a record in one form; what was not scored is counted, and never agreement."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.comparison import comparison_of
from evalsi_calibration.pairs import pair_up
from evalsi_calibration.scale import Scale
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.packs.pack_info import OutputInfo
from tests.calibration.asking import LABEL, NUMBER, PASS, THRESHOLD, instance, labels, paired, result

ONE_TO_FIVE = Scale(1, 5)


def said(pairs: Any) -> list[tuple[str, str]]:
    return [(pair.human.category, pair.judge.category) for pair in pairs]


def test_pass_and_fail_are_compared_as_they_are() -> None:
    _, found = paired(instance(PASS), [True, False, "pass"], [True, True, False])
    assert said(found.pairs) == [("pass", "pass"), ("fail", "pass"), ("pass", "fail")]
    assert [pair.agrees for pair in found.pairs] == [True, False, False]


def test_a_number_passes_from_the_threshold_on_and_up_to_it_where_lower_is_better() -> None:
    _, found = paired(instance(NUMBER), [True, False, True], [0.5, 0.499, 0.51], threshold=0.5)
    assert [judge for _, judge in said(found.pairs)] == ["pass", "fail", "pass"]
    falling = NUMBER._replace(higher_is_better=False)
    _, found = paired(instance(falling), [True, False, True], [0.5, 0.499, 0.51], threshold=0.5)
    assert [judge for _, judge in said(found.pairs)] == ["pass", "pass", "fail"]


def test_a_number_of_another_scale_is_put_on_that_of_people() -> None:
    _, found = paired(instance(NUMBER), [1, 4, 3], [0.0, 0.75, 0.6], label_scale=ONE_TO_FIVE)
    assert said(found.pairs) == [("1", "1"), ("4", "4"), ("3", "3")]
    assert [pair.judge.shown for pair in found.pairs] == ["1", "4", "3.4"]
    assert [pair.distance for pair in found.pairs] == pytest.approx([0.0, 0.0, 0.1])


@given(st.integers(-5, 5), st.integers(1, 9), st.data())
def test_one_and_the_same_grade_agrees_whatever_the_two_scales_are(low: int, width: int, data: st.DataObject) -> None:
    grades = data.draw(st.lists(st.integers(0, width), min_size=2, unique=True))
    scale = Scale(float(low), float(low + width))
    _, found = paired(
        instance(NUMBER), [low + grade for grade in grades], [grade / width for grade in grades], label_scale=scale
    )
    assert all(pair.agrees for pair in found.pairs)
    assert all(pair.distance < 1e-9 for pair in found.pairs)


@given(st.integers(1, 9), st.data())
def test_a_threshold_cuts_people_and_evaluator_alike(width: int, data: st.DataObject) -> None:
    grades = data.draw(st.lists(st.integers(0, width), min_size=2, unique=True))
    threshold = data.draw(st.integers(0, width)) / width
    scores = [grade / width for grade in grades]
    scale = Scale(3.0, 3.0 + width)
    _, found = paired(instance(NUMBER), [3 + grade for grade in grades], scores, label_scale=scale, threshold=threshold)
    assert all(human == judge for human, judge in said(found.pairs))


def test_numbers_without_steps_agree_only_where_they_are_equal() -> None:
    _, found = paired(instance(NUMBER), [0.25, 0.1, 0.5], [0.25, 0.3, 0.5])
    assert [pair.agrees for pair in found.pairs] == [True, False, True]
    assert said(found.pairs)[0] == ("", "")


def test_verdicts_on_two_outputs_are_further_apart_than_a_verdict_and_a_tie() -> None:
    compares = instance(LABEL, params={"other": "baseline"})
    _, found = paired(compares, ["win", "win", "tie"], ["loss", "tie", "tie"])
    assert [pair.distance for pair in found.pairs] == [1.0, 0.5, 0.0]


def test_other_labels_are_the_same_or_not() -> None:
    _, found = paired(instance(LABEL), ["a", " b"], ["b ", "b"])
    assert [(pair.distance, pair.agrees) for pair in found.pairs] == [(1.0, False), (0.0, True)]


def test_the_number_beside_a_pass_says_how_far_apart_the_two_are_and_the_first_score_says_why() -> None:
    own = instance(NUMBER, PASS._replace(name="grader-passed"), params={"threshold": 0.5})
    own = own._replace(info=own.info._replace(params=THRESHOLD))
    comparison = comparison_of(own, labels(False, True))
    results = [
        result(
            number,
            {"value": value, "explanation": "Because."},
            {"name": "grader-passed", "passed": True, "explanation": "0.9"},
        )
        for number, value in ((1, 0.9), (2, 0.6))
    ]
    found = pair_up(results, labels(False, True), comparison).pairs
    assert [pair.distance for pair in found] == pytest.approx([0.9, 0.4])
    assert found[0].explanation == "Because."
    assert [pair.judge.category for pair in found] == ["pass", "pass"]


def test_what_was_not_scored_is_left_out_and_counted_with_its_reason() -> None:
    written = [True, False, True, False, True, True]
    comparison = comparison_of(instance(PASS), labels(*written))
    error = {"code": "judge.refused", "message": "It refused.", "hint": "Ask another."}
    results = [
        result(1, {"passed": True}),
        {"record_id": "2", "outcome": "skipped", "reason": "record has no reference"},
        {"record_id": "3", "outcome": "error", "reason": "It refused.", "error": error},
        {"record_id": "4", "outcome": "error", "reason": "It refused.", "error": error},
        {"record_id": "5", "outcome": "cancelled", "reason": "stopped"},
    ]
    found = pair_up(results, labels(*written), comparison)
    assert [pair.record_id for pair in found.pairs] == ["1"]
    assert found.left_out == {"skipped": 1, "error": 2, "cancelled": 2}
    assert next(iter(found.reasons.items())) == (("error", "It refused."), 2)
    assert found.error == error


def test_a_record_that_was_scored_without_the_metric_is_left_out_too() -> None:
    comparison = comparison_of(instance(PASS), labels(True, False))
    results = [result(1, {"name": "other", "passed": True}), result(2, {"passed": False})]
    found = pair_up(results, labels(True, False), comparison)
    assert found.left_out["skipped"] == 1
    assert found.reasons == {("skipped", "it gave no grader"): 1}


def test_the_prompts_that_scores_name_are_collected() -> None:
    comparison = comparison_of(instance(PASS), labels(True, False, True))
    hashes: list[Any] = ["b" * 64, "a" * 64, 7]
    results = [
        result(number, {"passed": True, "metadata": {"prompt_sha256": one}}) for number, one in enumerate(hashes, 1)
    ]
    assert pair_up(results, labels(True, False, True), comparison).prompts == ("a" * 64, "b" * 64)


def test_an_evaluator_that_gives_something_else_than_people_do_is_told_with_a_hint() -> None:
    comparison = comparison_of(instance(), labels(True, False))
    with pytest.raises(ConfigError, match="grader gives a number, and the labels ask for a pass") as caught:
        pair_up([result(1, {"value": 0.5})], labels(True, False), comparison)
    assert "--threshold" in caught.value.hint


def test_an_undeclared_number_outside_of_peoples_scale_is_told_with_a_hint() -> None:
    with pytest.raises(ConfigError, match="grader gave 0, and declares no range; the labels go from 1 to 5") as caught:
        paired(instance(OutputInfo()), [1, 5], [0.0, 1.0], label_scale=ONE_TO_FIVE)
    assert "minimum=" in caught.value.hint
