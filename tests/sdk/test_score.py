"""Test valid and invalid scores and results of evaluators."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalsi import Score, ScoreError
from evalsi.score import scores_of

HUGE = 10**400
UNPRINTABLE = 10**5000


class Mood(str, Enum):  # noqa: UP042 -- a StrEnum's str() is its value; this kind's is its name.
    """A label that is an enum."""

    CALM = "calm"


class WeirdRepr:
    """An object whose own repr fails."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def written(value: object) -> str:
    """A test's id: the value as it is written, without the address that differs from process to process."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def test_a_score_is_a_number_a_pass_or_a_label() -> None:
    assert Score(value=3).to_wire() == {"value": 3.0}
    assert Score(passed=False).to_wire() == {"passed": False}
    assert Score(label="refusal").to_wire() == {"label": "refusal"}


def test_what_stands_beside_the_verdict_travels_along_and_what_is_absent_is_left_out() -> None:
    score = Score(
        name="f1", value=0.5, explanation="half", confidence=1, metadata={"tokens": 3}, cost_usd=0
    )  # fmt: skip
    assert score.to_wire() == {
        "name": "f1",
        "value": 0.5,
        "explanation": "half",
        "confidence": 1.0,
        "metadata": {"tokens": 3},
        "cost_usd": 0.0,
    }
    assert (score.name, score.value, score.passed, score.label) == ("f1", 0.5, None, None)
    assert (score.explanation, score.confidence, score.metadata, score.cost_usd) == ("half", 1.0, {"tokens": 3}, 0.0)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"explanation": "no verdict"},
        {"value": 1, "passed": True},
        {"passed": False, "label": "x"},
        {"value": 0, "label": ""},
        {"value": 0, "passed": False, "label": ""},
    ],
)
def test_none_or_several_of_value_passed_and_label_are_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ScoreError, match="exactly one of value, passed and label"):
        Score(**parts)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf"), Decimal("NaN"), Decimal("-Infinity")],
    ids=written,
)
def test_a_number_that_is_not_finite_is_refused(value: Any) -> None:
    assert Score(value=value).value is None
    assert "which is not a finite number" in (Score(value=value).error or "")
    with pytest.raises(ScoreError, match="which is not a finite number"):
        scores_of(Score(value=value))
    with pytest.raises(ScoreError, match="which is not a finite number"):
        scores_of([Score(name="a", value=value), Score(name="b", value=value)])
    with pytest.raises(ScoreError, match="which is not a finite number"):
        scores_of(value)


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(False)], ids=written)
def test_a_bool_is_no_value(value: Any) -> None:
    with pytest.raises(
        ScoreError, match=r"value is (True|False), which is not a number; a pass or fail goes into passed"
    ):
        Score(value=value)


@pytest.mark.parametrize(
    "value",
    ["0.5", b"1", [0.5], {}, 1j, object(), np.array([1, 2]), np.complex128(1), pd.NA, Decimal("sNaN")],
    ids=written,
)
def test_what_is_no_number_is_no_value(value: Any) -> None:
    with pytest.raises(ScoreError, match="which is not a number"):
        Score(value=value)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, 7.0),
        (Fraction(1, 4), 0.25),
        (Decimal("0.5"), 0.5),
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(-3), -3.0),
        (np.uint8(255), 255.0),
        (np.array(0.25), 0.25),
        (np.array([0.25]), 0.25),
        (pd.Series([2]), 2.0),
        (2**63, 2.0**63),
    ],
    ids=written,
)
def test_the_numbers_of_python_and_of_libraries_become_floats(value: Any, number: float) -> None:
    for wire in (Score(value=value).to_wire(), *scores_of(value)):
        assert wire == {"value": number}
        assert type(wire["value"]) is float


@pytest.mark.parametrize("value", [HUGE, -HUGE, UNPRINTABLE], ids=["huge", "-huge", "unprintable"])
def test_an_integer_too_large_for_a_float_is_refused(value: int) -> None:
    with pytest.raises(ScoreError, match="value is an integer too large for a float"):
        Score(value=value)
    with pytest.raises(ScoreError, match="too large for a float"):
        scores_of(value)


@pytest.mark.parametrize("truth", [True, np.bool_(True), np.array(True), pd.Series([True])], ids=written)
def test_the_truth_values_of_libraries_become_bools(truth: Any) -> None:
    for wire in (Score(passed=truth).to_wire(), *scores_of(truth)):
        assert wire == {"passed": True}
        assert type(wire["passed"]) is bool


@pytest.mark.parametrize("truth", [1, 0, "yes", 1.0, np.int64(1), np.array([True, False])], ids=written)
def test_what_is_neither_true_nor_false_is_no_pass(truth: Any) -> None:
    with pytest.raises(ScoreError, match="which is not True or False"):
        Score(passed=truth)


@pytest.mark.parametrize("label", ["calm", Mood.CALM, np.str_("calm")], ids=written)
def test_a_label_of_any_kind_of_text_becomes_plain_text(label: str) -> None:
    for wire in (Score(label=label).to_wire(), *scores_of(label)):
        assert wire == {"label": "calm"}
        assert type(wire["label"]) is str


@pytest.mark.parametrize(
    ("part", "value", "why"),
    [
        ("label", 3, "label is 3, which is not text"),
        ("name", 3, "name is 3, which is not text"),
        ("explanation", ["a"], r"explanation is \['a'\], which is not text"),
        ("confidence", 1.01, r"confidence is 1.01; it must be between 0 and 1"),
        ("confidence", -0.1, "it must be between 0 and 1"),
        ("confidence", math.nan, "confidence is nan, which is not a finite number"),
        ("confidence", "high", "confidence is 'high', which is not a number"),
        ("confidence", True, "confidence is True, which is not a number"),
        ("metadata", [1], r"metadata is \[1\], which is not a dict"),
        ("cost_usd", math.inf, "cost_usd is inf, which is not a finite number"),
    ],
)
def test_a_part_of_the_wrong_type_is_refused_by_its_name(part: str, value: Any, why: str) -> None:
    parts: dict[str, Any] = {part: value} if part == "label" else {"value": 1, part: value}
    with pytest.raises(ScoreError, match=why):
        Score(**parts)


def test_an_error_about_a_value_that_cannot_be_printed_is_still_a_sentence() -> None:
    with pytest.raises(ScoreError, match="passed is an object of type WeirdRepr, which is not True or False"):
        Score(passed=WeirdRepr())  # type: ignore[arg-type]
    with pytest.raises(ScoreError, match="label is an object of type int"):
        Score(label=UNPRINTABLE)  # type: ignore[arg-type]


def test_an_error_about_a_long_value_is_short() -> None:
    with pytest.raises(ScoreError) as caught:
        Score(value="x" * 10_000)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 150


def test_a_score_cannot_be_changed_once_it_is_made() -> None:
    score = Score(value=0.5)
    with pytest.raises(AttributeError):
        score.value = math.nan  # type: ignore[misc]
    score.to_wire()["value"] = math.nan
    assert score.value == 0.5


def test_scores_are_equal_when_they_say_the_same() -> None:
    assert Score(value=1) == Score(value=1.0)
    assert Score(value=1) != Score(passed=True)
    assert Score(value=1) != 1
    assert repr(Score(value=1, name="a")) == "Score(value=1.0, name='a')"


def test_an_evaluator_may_return_a_score_or_several() -> None:
    assert scores_of(Score(passed=True)) == [{"passed": True}]
    two = [Score(name="a", value=1), Score(name="b", label="x")]
    assert scores_of(two) == scores_of(tuple(two)) == [{"name": "a", "value": 1.0}, {"name": "b", "label": "x"}]


def test_an_evaluator_may_return_a_score_of_a_class_of_its_own() -> None:
    class OwnScore(Score):
        """A score with another name."""

    assert scores_of(OwnScore(passed=True)) == [{"passed": True}]
    assert scores_of([OwnScore(passed=True)]) == [{"passed": True}]


@pytest.mark.parametrize(
    ("result", "wire"),
    [
        (True, {"passed": True}),
        (False, {"passed": False}),
        (0, {"value": 0.0}),
        (0.25, {"value": 0.25}),
        ("x", {"label": "x"}),
    ],
)
def test_a_bare_result_becomes_the_score_that_its_type_says(result: Any, wire: dict[str, Any]) -> None:
    assert scores_of(result) == [wire]


def test_nothing_is_never_a_score() -> None:
    with pytest.raises(ScoreError, match=r"returned None; return a Score"):
        scores_of(None)
    with pytest.raises(ScoreError, match=r"returned an empty list; return a Score or raise evalsi.Skip"):
        scores_of([])


@pytest.mark.parametrize(
    "result", [{"passed": True}, {1.0}, b"x", object(), range(3), (number for number in [1.0])], ids=written
)
def test_what_is_no_score_is_refused_with_what_would_be_one(result: Any) -> None:
    with pytest.raises(
        ScoreError, match=r"which is not a score; return a Score, a list of Scores, a bool, a number or a string"
    ):
        scores_of(result)


@pytest.mark.parametrize("results", [[True], [Score(value=1), 0.5], (0.1, 0.2), [None]], ids=written)
def test_a_list_holds_scores_and_nothing_else(results: Any) -> None:
    with pytest.raises(ScoreError, match="which is not a Score"):
        scores_of(results)


@pytest.mark.parametrize("name", [None, "", "f1"])
def test_two_scores_of_one_name_are_refused(name: str | None) -> None:
    with pytest.raises(ScoreError, match="two scores with the same name"):
        scores_of([Score(name=name, value=1), Score(name=name, value=2)])


def test_an_empty_name_is_the_evaluator_s_own_as_no_name_is() -> None:
    assert Score(name="", value=1) == Score(value=1)


def test_a_coroutine_that_nobody_awaited_is_refused_with_how_to_write_it() -> None:
    async def forgotten() -> float:
        return 1.0

    with pytest.raises(ScoreError, match="write it as `async def`"):
        scores_of(forgotten())
