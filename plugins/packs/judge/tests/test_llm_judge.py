"""llm-judge, end to end with a scripted judge: a grade is a place on a scale, and a failing judge is none."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi_pack_judge
from evalsi import ParamError, Question, Record
from evalsi.testing import Bench, ImpossibleReply, Outcome, failure
from evalsi_pack_judge.grading_prompt import grading_prompt
from evalsi_pack_judge.llm_judge import PASSED, LlmJudge
from evalsi_pack_judge.rubrics import BUILT_IN, CORRECTNESS

RECORD = Record(id="1", input="What is the capital of Nepal?", output="Kathmandu.", reference="Kathmandu")
WHOLE: dict[str, Any] = {"input": "When?", "output": "At seven.", "reference": "At 7.", "context": ["It opens at 7."]}
EACH = pytest.mark.parametrize("rubric", list(BUILT_IN))


def grade(score: float, reason: str = "It is near.") -> dict[str, Any]:
    return {"reason": reason, "score": score}


def graded(score: float, record: Record = RECORD, **params: Any) -> Outcome:
    return Bench(judge=[grade(score)]).score(LlmJudge, record, **params)


def asked(record: Record, **params: Any) -> Question:
    """The one question that a record leads to."""
    bench = Bench(judge=lambda question: grade(question.schema["properties"]["score"]["minimum"]))
    assert bench.score(LlmJudge, record, **params).kind == "scored"
    (question,) = bench.questions
    return question


# -- the score --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "value"), [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0)])
def test_a_grade_is_its_place_on_the_scale_from_0_to_1(score: int, value: float) -> None:
    outcome = graded(score)
    assert outcome.value == value
    assert outcome.score.name is None
    assert outcome.score.explanation == "It is near."


@pytest.mark.parametrize(
    ("scale", "score", "value"),
    [
        ([0, 10], 7, 0.7),
        ([0, 10], 10, 1.0),
        ([0, 1], 1, 1.0),
        ([1, 10], 1, 0.0),
        ([-2, 2], 0, 0.5),
        ([0, 100], 29, 0.29),
    ],
)
def test_the_scale_may_be_any_two_whole_numbers(scale: list[int], score: int, value: float) -> None:
    assert graded(score, scale=scale).value == value
    question = asked(RECORD, scale=scale)
    assert f"from {scale[0]} to {scale[1]}" in question.messages[0]["content"]
    assert f"from {scale[0]} to {scale[1]}." in question.messages[1]["content"]


@pytest.mark.parametrize(
    ("scale", "score", "value"),
    [([0.0, 1.0], 0.7, 0.7), ([0.0, 1.0], 1, 1.0), ([1.0, 5.0], 4.5, 0.875), ([0, 1.0], 0.25, 0.25)],
)
def test_j2_a_scale_with_decimals_takes_grades_with_decimals(scale: list[float], score: float, value: float) -> None:
    assert graded(score, scale=scale).value == value
    question = asked(RECORD, scale=scale)
    assert question.schema is not None
    assert question.schema["properties"]["score"]["type"] == "number"
    assert f"from {scale[0]:g} to {scale[1]:g}" in question.messages[0]["content"]


def test_a_score_says_what_it_rests_on() -> None:
    assert graded(4).score.metadata == {
        "rubric": "correctness",
        "grade": 4,
        "scale": [1, 5],
        "prompt_sha256": grading_prompt(CORRECTNESS.text, 1, 5).sha256,
        "replies": [],
    }


def test_with_a_threshold_the_number_and_the_threshold_alone_decide_what_passes() -> None:
    # open-18: what the judge writes beside its grade does not count.
    for score, passed in ((1, False), (3, False), (4, True), (5, True)):
        outcome = Bench(judge=[grade(score, "pass: true")]).score(LlmJudge, RECORD, threshold=0.75)
        assert [one.name for one in outcome.scores] == [None, PASSED]
        assert outcome.scores[0].value == (score - 1) / 4
        assert outcome[PASSED].passed is passed
    assert outcome[PASSED].explanation == "1, to pass from 0.75 on"


@pytest.mark.parametrize(
    "reply",
    [
        {"reason": "good"},
        {"score": 5},
        grade(0),
        grade(6),
        {"reason": "good", "score": "5"},
        {"reason": "good", "score": True},
        {"reason": "good", "score": None},
        {"reason": "good", "score": 4.5},
        {"pass": True, **grade(1)},
    ],
    ids=str,
)
def test_what_is_no_grade_does_not_fit_the_question(reply: dict[str, Any]) -> None:
    with pytest.raises(ImpossibleReply):
        Bench(judge=[reply]).score(LlmJudge, RECORD)


@EACH
@pytest.mark.parametrize("code", ["judge.unparsable", "judge.refused", "judge.truncated", "provider.rate_limited"])
def test_a_judge_that_fails_is_an_error_and_never_a_score(code: str, rubric: str) -> None:
    outcome = Bench(judge=[failure(code)]).score(LlmJudge, Record(**WHOLE), rubric=rubric, threshold=0.0)
    assert outcome.error is not None
    assert outcome.error.code == code


# -- what the judge is shown ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rubric", "shown"),
    [
        ("correctness", {"input", "reference", "answer"}),
        ("faithfulness", {"input", "context", "answer"}),
        ("helpfulness", {"input", "answer"}),
        ("relevance", {"input", "answer"}),
        ("It names the hour.", {"input", "reference", "context", "answer"}),
    ],
)
def test_a_rubric_shows_what_it_is_about_and_nothing_else(rubric: str, shown: set[str]) -> None:
    user = asked(Record(**WHOLE), rubric=rubric).messages[1]["content"]
    assert {name for name in ("input", "reference", "context", "answer") if f"\n<{name} " in user} == shown


def test_the_reason_is_asked_for_before_the_score_and_nothing_else_is() -> None:
    assert asked(RECORD, scale=[0, 3]).schema == {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "description": "what decided, in one or two sentences"},
            "score": {"type": "integer", "minimum": 0, "maximum": 3},
        },
        "required": ["reason", "score"],
        "additionalProperties": False,
    }


def test_the_rubric_stands_in_the_rules_word_for_word() -> None:
    for rubric in BUILT_IN.values():
        assert rubric.text in asked(Record(**WHOLE), rubric=rubric.name).messages[0]["content"]
    own = "It names {the hour} and 100 %\nof what is asked."
    assert own in asked(RECORD, rubric=f"  {own}\n").messages[0]["content"]


def test_an_own_rubric_needs_nothing_but_the_output() -> None:
    question = asked(Record(output="At seven."), rubric="It names the hour.")
    assert question.messages[1]["content"].count("\n<") == 2


def test_a_conversation_and_several_references_are_shown_one_by_one() -> None:
    record = Record(
        input=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "कुकुर जान्छ?"},
            {"role": "assistant", "content": "कुन?"},
            {"role": "user", "content": "सानो।"},
        ],
        output=[{"role": "assistant", "content": "जान्छ।"}],
        reference=["जान्छ", "हो"],
    )
    user = asked(record).messages[1]["content"]
    for name in ("input_1_system", "input_2_user", "input_3_assistant", "input_4_user", "reference_1", "reference_2"):
        assert f"\n<{name} " in user
    assert "\nजान्छ।\n</answer " in user


@pytest.mark.parametrize("text", ["Правильный ответ — Осло.", "正しい答えは東京です。", "الجواب هو القاهرة", "🙂"])
def test_any_script_travels_as_it_is(text: str) -> None:
    bench = Bench(judge=lambda question: grade(5, text))
    record = Record(id="1", input=text, output=text, reference=text)
    (outcome,) = bench.run_pack(evalsi_pack_judge, "llm-judge", [record], {"threshold": 1.0}).outcomes
    assert [one.explanation for one in outcome.scores] == [text, "1, to pass from 1 on"]
    assert bench.questions[0].messages[1]["content"].count(f"\n{text}\n") == 3


# -- records that lack something --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rubric", "missing"),
    [
        ("correctness", "output"),
        ("correctness", "reference"),
        ("faithfulness", "context"),
        ("helpfulness", "input"),
        ("relevance", "input"),
        ("It names the hour.", "output"),
    ],
)
def test_a_record_without_what_its_rubric_needs_is_skipped(rubric: str, missing: str) -> None:
    fields = {name: value for name, value in WHOLE.items() if name != missing}
    outcome = Bench(judge=[]).score(LlmJudge, Record(**fields), rubric=rubric)
    assert (outcome.kind, outcome.reason) == ("skipped", f"record has no {missing}")


@pytest.mark.parametrize("rubric", ["correctness", "helpfulness", "relevance"])
@pytest.mark.parametrize("output", ["", " \n", "\u200b", [{"role": "assistant", "content": ""}]], ids=repr)
def test_an_empty_output_is_0_without_a_question(rubric: str, output: Any) -> None:
    outcome = Bench(judge=[]).score(LlmJudge, Record(**{**WHOLE, "output": output}), rubric=rubric, threshold=0.5)
    assert (outcome.scores[0].value, outcome[PASSED].passed) == (0.0, False)
    assert outcome.scores[0].explanation == "The output is empty."


def test_an_empty_output_is_neither_faithful_nor_unfaithful() -> None:
    outcome = Bench(judge=[]).score(LlmJudge, Record(**{**WHOLE, "output": ""}), rubric="faithfulness")
    assert outcome.reason == "the output is empty, so it states nothing that could be unfaithful"


def test_e10_an_empty_context_is_skipped() -> None:
    outcome = Bench(judge=[]).score(LlmJudge, Record(**{**WHOLE, "context": []}), rubric="faithfulness")
    assert outcome.reason == "the context is empty: nothing was retrieved"


def test_an_empty_output_is_graded_by_an_own_rubric() -> None:
    assert graded(5, Record(output=""), rubric="It says nothing.").value == 1.0


def test_an_output_that_only_calls_a_tool_is_not_empty() -> None:
    calls = [{"id": "1", "name": "ring", "arguments": '{"at": 7}'}]
    record = Record(input="Ring at 7.", output=[{"role": "assistant", "content": None, "tool_calls": calls}])
    assert '"name": "ring"' in asked(record, rubric="helpfulness").messages[1]["content"]


@pytest.mark.parametrize(
    ("rubric", "field", "value"),
    [
        ("correctness", "reference", ""),
        ("correctness", "reference", ["", " "]),
        ("faithfulness", "context", ["", "\u200b"]),
        ("helpfulness", "input", " "),
        ("relevance", "input", [{"role": "user", "content": ""}]),
    ],
)
def test_a_needed_field_without_text_is_an_error_of_the_data(rubric: str, field: str, value: Any) -> None:
    outcome = Bench(judge=[]).score(LlmJudge, Record(**{**WHOLE, field: value}), rubric=rubric)
    assert outcome.error is not None
    assert f"the {field} holds no text; correct the {field} of this record" in outcome.error.message


# -- params -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rubric", ["", " ", "corectness", "Correctness", "polite"])
def test_a_rubric_of_one_word_that_names_none_is_refused(rubric: str) -> None:
    with pytest.raises(ParamError, match="Name one of correctness, faithfulness, helpfulness, relevance"):
        graded(5, rubric=rubric)


@pytest.mark.parametrize("scale", [[5, 1], [3, 3], [1], [1, 2, 3], []])
def test_a_scale_is_its_two_ends(scale: list[int]) -> None:
    with pytest.raises(ParamError, match=r"is no scale. Write its least and its greatest grade"):
        graded(1, scale=scale)


def test_a_scale_that_no_judge_tells_apart_is_refused() -> None:
    with pytest.raises(ParamError, match="more than 100 steps"):
        graded(1, scale=[0, 101])
