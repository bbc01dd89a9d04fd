"""Test that a result of another type than declared is an error."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NewType

import pytest

from evalsi import Record, Score, evaluator
from evalsi.judging import JudgeReply, Question
from evalsi.testing import Bench

RECORD = Record(id="r1", output="x")
A, B = Score(name="a", value=1.0), Score(name="b", passed=True)
Share = NewType("Share", float)


class Tone(enum.StrEnum):
    WARM = "warm"


def returning(annotation: Any, result: Any) -> Callable[[Record], Any]:
    """A function that says one thing and returns what it is told to."""

    def judged(record: Record) -> Any:
        return result

    judged.__annotations__["return"] = annotation
    return judged


@pytest.mark.parametrize(
    ("annotation", "result", "told"),
    [
        ("float", "bad", "type float, but returned 'bad'"),
        (float, "good", "type float, but returned 'good'"),
        (int, "3", "type int, but returned '3'"),
        (bool, "good", "type bool, but returned 'good'"),
        (bool, 1, "type bool, but returned 1"),
        (bool, 0.5, "type bool, but returned 0.5"),
        (str, 0.5, "type str, but returned 0.5"),
        (str, True, "type str, but returned True"),
        (float | None, "good", "type float | None, but returned 'good'"),
        (bool | float, "good", "type bool | float, but returned 'good'"),
        (Literal["a", "b"], 1, "type Literal['a', 'b'], but returned 1"),
        (Literal[0, 1], "1", "type Literal[0, 1], but returned '1'"),
        (Annotated[float, "a share"], "good", "but returned 'good'"),
        (Tone, 1.0, "type Tone, but returned 1.0"),
        (Score, "good", "type Score, but returned 'good'"),
        (Score, 0.5, "type Score, but returned 0.5"),
        (list[Score], True, "but returned True"),
        (float, Score(label="good"), "type float, but returned Score(label='good')"),
        (float, [A, Score(name="c", label="x")], "type float, but returned [Score("),
    ],
)
def test_a_result_of_another_kind_than_the_code_says_is_an_error(annotation: Any, result: Any, told: str) -> None:
    outcome = Bench().score(returning(annotation, result), RECORD)

    assert outcome.kind == "error"
    assert outcome.error is not None
    assert outcome.error.code == "pack.bad_score"
    assert outcome.error.message.startswith("judged: The evaluator declares the return type ")
    assert told in outcome.error.message
    assert outcome.error.hint.startswith("Return the declared type")


@pytest.mark.parametrize(
    ("annotation", "result"),
    [
        ("float", 0.25),
        (float, 1),
        (float, True),  # As type checkers have it.
        (int, 3),
        (bool, False),
        (str, "good"),
        (str, Tone.WARM),
        (Tone, Tone.WARM),
        (Literal["a"], "a"),
        (float | None, 0.5),
        (float | str, "good"),
        (bool, Score(passed=True)),
        (float, Score(value=1)),
        (float, [A, B]),
        (Score, Score(label="x")),
        (Score, [A, B]),
        (list[Score], [A, B]),
        (Sequence[Score], (A, B)),
        (Score | float, 0.5),
        (Score | list[Score], [A]),
    ],
)
def test_a_result_that_is_what_the_code_says_is_scored(annotation: Any, result: Any) -> None:
    assert Bench().score(returning(annotation, result), RECORD).kind == "scored"


@pytest.mark.parametrize(
    "annotation",
    [Any, object, "None", "NoSuchName", "not a type", list[float], Share, float | Any],
)
def test_where_the_code_does_not_say_a_kind_the_result_speaks_for_itself(annotation: Any) -> None:
    assert Bench().score(returning(annotation, "good"), RECORD).label == "good"


def test_without_an_annotation_the_result_speaks_for_itself() -> None:
    judged = returning(None, "good")
    del judged.__annotations__["return"]

    assert Bench().score(judged, RECORD).label == "good"


def test_nothing_is_told_as_nothing_whatever_was_said() -> None:
    error = Bench().score(returning(float, None), RECORD).error

    assert error is not None
    assert "returned None; return a Score" in error.message


def test_what_wraps_a_function_is_not_held_to_what_the_function_within_says() -> None:
    def as_score(function: Callable[[Record], str]) -> Callable[[Record], Score]:
        @functools.wraps(function)
        def wrapped(record: Record) -> Score:
            return Score(passed=function(record) == "x")

        return wrapped

    @as_score
    def said(record: Record) -> str:
        return record.output_text

    assert Bench().score(said, RECORD).passed


def test_a_function_whose_params_are_bound_is_held_to_what_it_says() -> None:
    def judged(record: Record, *, word: str) -> float:
        return word  # type: ignore[return-value]  # the mistake that is tested

    marked = evaluator(name="judged")(functools.partial(judged, word="good"))

    assert Bench().score(marked, RECORD).kind == "error"


class Scored:
    def score(self, record: Record) -> float:
        return "good"  # type: ignore[return-value]  # as above


class Awaited:
    async def score(self, record: Record) -> float:
        return "good"  # type: ignore[return-value]  # as above


class Reduced:
    def plan(self, record: Record) -> list[Question]:
        return [Question([{"role": "user", "content": "?"}])]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> float:
        return replies[0].text  # type: ignore[return-value]  # as above


@pytest.mark.parametrize("target", [Scored, Awaited, Reduced])
def test_a_class_is_held_to_what_its_method_says(target: type) -> None:
    error = Bench(judge=["good"]).score(target, RECORD).error

    assert error is not None
    assert "declares the return type float, but returned 'good'" in error.message


def test_the_score_of_the_whole_is_held_to_what_is_said_of_it_and_states_are_not() -> None:
    @evaluator(scope="dataset")
    class Whole:
        def observe(self, record: Record) -> str:
            return record.output_text

        def aggregate(self, states: Sequence[str]) -> float:
            return states[0]  # type: ignore[return-value]  # as above

    error = Bench().aggregate(Whole, [RECORD, RECORD]).error

    assert error is not None
    assert "declares the return type float, but returned 'x'" in error.message
