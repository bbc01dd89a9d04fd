"""How labels and scores are compared is settled before anything is scored; what cannot be is told with a hint."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_calibration.comparison import comparison_of
from evalsi_calibration.scale import Scale
from evalsi_kernel.errors import ConfigError, DatasetError, EvalsiError, UsageError
from evalsi_kernel.packs.pack_info import OutputInfo
from tests.calibration.asking import LABEL, NUMBER, PASS, THRESHOLD, instance, labels

ONE_TO_FIVE = Scale(1, 5)


# -- what is compared with what ------------------------------------------------------------------------------------


def test_pass_and_fail_of_people_meet_the_evaluators_own() -> None:
    found = comparison_of(instance(PASS, NUMBER._replace(name="share")), labels(True, False))
    assert (found.kind, found.metric, found.categories) == ("pass", "grader", ("pass", "fail"))
    assert (found.threshold, found.number_metric) == (None, "share")


def test_a_threshold_makes_a_number_pass_or_fail() -> None:
    found = comparison_of(instance(NUMBER), labels("pass", "fail"), threshold=0.5)
    assert (found.kind, found.metric, found.output.kind, found.threshold) == ("pass", "grader", "number", 0.5)


def test_a_threshold_goes_before_the_evaluators_own_pass() -> None:
    outputs = (NUMBER, PASS._replace(name="grader-passed"))
    assert comparison_of(instance(*outputs), labels(True, False), threshold=0.5).metric == "grader"


def test_a_pass_that_only_a_param_brings_is_there_when_the_param_is_set() -> None:
    outputs = (NUMBER, PASS._replace(name="grader-passed"))
    own = instance(*outputs, params={"threshold": 0.75})
    own = own._replace(info=own.info._replace(params=THRESHOLD))
    assert comparison_of(own, labels(True, False)).metric == "grader-passed"
    unset = own._replace(params={})
    with pytest.raises(UsageError) as caught:
        comparison_of(unset, labels(True, False))
    assert "--threshold 0.5, or --param grader.threshold=0.5." in caught.value.hint


def test_whole_numbers_of_a_scale_are_its_steps() -> None:
    found = comparison_of(instance(NUMBER), labels(1, 5, 4), label_scale=ONE_TO_FIVE)
    assert (found.kind, found.categories) == ("steps", ("1", "2", "3", "4", "5"))
    assert (found.label_scale, found.judge_scale) == (ONE_TO_FIVE, Scale(0.0, 1.0))


def test_numbers_without_a_scale_are_on_the_evaluators_own() -> None:
    found = comparison_of(instance(OutputInfo(minimum=1, maximum=5)), labels(1, 5, 4))
    assert (found.kind, found.label_scale) == ("steps", ONE_TO_FIVE)
    assert comparison_of(instance(NUMBER), labels(0.5, 0.25)).kind == "numbers"


def test_0_and_1_are_pass_and_fail_unless_a_scale_is_named() -> None:
    assert comparison_of(instance(PASS, NUMBER._replace(name="share")), labels(0, 1)).kind == "pass"
    assert comparison_of(instance(NUMBER), labels(0, 1), label_scale=Scale(0, 1)).kind == "steps"


def test_numbers_and_a_threshold_are_compared_as_what_passes() -> None:
    found = comparison_of(instance(NUMBER), labels(1, 5), label_scale=ONE_TO_FIVE, threshold=0.5)
    assert (found.kind, found.categories) == ("numbers", ("pass", "fail"))


def test_texts_meet_the_evaluators_labels() -> None:
    found = comparison_of(instance(LABEL), labels("formal", "casual", "formal"))
    assert (found.kind, found.categories) == ("labels", ("casual", "formal"))
    assert comparison_of(instance(LABEL), labels("pass", "fail")).kind == "labels"


def test_verdicts_on_two_outputs_keep_their_order() -> None:
    compares = instance(LABEL, params={"other": "baseline"})
    assert comparison_of(compares, labels("loss", "win")).categories == ("win", "tie", "loss")


def test_an_evaluator_that_declares_nothing_is_taken_to_give_what_people_do() -> None:
    assert comparison_of(instance(), labels(True, False)).output.kind == "pass"
    assert comparison_of(instance(), labels(True, False), threshold=0.5).output.kind == "number"
    assert comparison_of(instance(), labels("a", "b")).output.kind == "label"
    found = comparison_of(instance(), labels(1, 5), label_scale=ONE_TO_FIVE)
    assert (found.kind, found.judge_scale) == ("steps", ONE_TO_FIVE)


# -- what cannot be ------------------------------------------------------------------------------------------------

FAULTS: dict[str, tuple[Any, list[Any], dict[str, Any], type[EvalsiError], str]] = {
    "a number against pass and fail": (
        instance(NUMBER), [True, False], {}, UsageError,
        "grader gives a number, and the labels are true, false. Say from where on it passes: --threshold 0.5.",
    ),
    "a number against 0 and 1": (
        instance(NUMBER), [0, 1], {}, UsageError, "For labels that are numbers, name their scale: --label-scale 0-1.",
    ),
    "a pass against numbers": (
        instance(PASS), [1, 5], {}, ConfigError,
        "grader passes or fails, and the labels are 1, 5. Label with pass or fail.",
    ),
    "a pass against texts": (
        instance(PASS), ["a", "b", "c", "d"], {}, ConfigError, "the labels are a, b, c, …. Label with pass or fail.",
    ),
    "a label against numbers": (
        instance(LABEL), [1, 2], {}, ConfigError, "Label with texts, one of those that it gives.",
    ),
    "a pass against a scale": (
        instance(PASS), [1, 0], {"label_scale": ONE_TO_FIVE}, ConfigError, "grader passes or fails",
    ),
    "a scale of what are no numbers": (
        instance(NUMBER), [True, False], {"label_scale": ONE_TO_FIVE}, UsageError, "--label-scale is for numbers",
    ),
    "a threshold without a number": (
        instance(PASS), [True, False], {"threshold": 0.5}, UsageError, "cuts a number, and grader declares none.",
    ),
    "a threshold of labels": (
        instance(LABEL), ["a", "b"], {"threshold": 0.5}, UsageError, "--threshold cuts a number",
    ),
    "a threshold outside of the range": (
        instance(NUMBER), [True, False], {"threshold": 3.0}, UsageError, "--threshold is 3, and grader gives 0 to 1.",
    ),
    "a label outside of the evaluator's range": (
        instance(NUMBER), [0.5, 4], {}, DatasetError,
        "labelled.jsonl, line 2: the label 4 lies outside of 0 to 1. grader gives 0 to 1. If people used another scale",
    ),
    "a label outside of its scale": (
        instance(NUMBER), [1, 7], {"label_scale": ONE_TO_FIVE}, DatasetError,
        "line 2: the label 7 lies outside of 1 to 5.",
    ),
    "numbers without any range": (
        instance(OutputInfo()), [1, 5], {}, UsageError, "grader declares no range, and the labels are numbers (1, 5).",
    ),
    "one label only": (
        instance(PASS), [True, 1, "pass"], {}, DatasetError,
        "All 3 labels are pass, so that nothing tells agreement from chance. Label records of another kind too.",
    ),
    "one number only": (
        instance(NUMBER), [4, 4.0], {"label_scale": ONE_TO_FIVE}, DatasetError, "All 2 labels are 4",
    ),
    "one text only": (instance(LABEL), ["a", " a"], {}, DatasetError, "All 2 labels are a"),
    "a verdict that is none": (
        instance(LABEL, params={"other": "baseline"}), ["win", "Loss"], {}, DatasetError,
        "line 2: the label is 'Loss', and grader gives win, tie, loss of the output.",
    ),
    "a text for every record": (
        instance(LABEL), [f"text {number}" for number in range(102)], {}, DatasetError, "are 102 different texts",
    ),
    "one score for all records": (
        instance(NUMBER, scope="dataset"), [True, False], {}, ConfigError, "grader gives one score for all records.",
    ),
    "labels of mixed kinds": (instance(NUMBER), [True, 4], {}, DatasetError, "mixed kinds"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_what_cannot_be_compared_is_an_error_with_a_hint(
    fault: tuple[Any, list[Any], dict[str, Any], Any, str],
) -> None:
    evaluator, written, settings, kind, told = fault
    with pytest.raises(kind) as caught:
        comparison_of(evaluator, labels(*written), **settings)
    assert told in str(caught.value)
    assert caught.value.hint
