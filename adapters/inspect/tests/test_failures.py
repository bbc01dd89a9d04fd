"""A judge that fails, refuses, or says what is no grade makes an error of the record, never a number."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.inspect.tests.cases import DETERMINISTIC, GRADED, Case, evaluator
from inspect_ai.scorer import Score as Verdict

from evalsi import Record
from evalsi.testing import Bench, failure
from evalsi_inspect.table import SCORERS, ScorerRow
from evalsi_inspect.verdict import NoGrade, score_of

GRADERS = [row for row in SCORERS if row.asks_judge]
RECORD = Record(id="1", input="What is it?", output="Paris", reference="Paris")
BAD_REPLIES: list[tuple[Any, str]] = [
    (failure("judge.refused"), "judge.refused"),
    (failure("judge.truncated"), "judge.truncated"),
    (failure("judge.empty"), "judge.empty"),
    (failure("provider.quota"), "provider.quota"),
    (failure("capability.not_bound"), "capability.not_bound"),
    ("I cannot say.", "pack.evaluator_raised"),
    ("GRADE: X", "pack.evaluator_raised"),
    ("GRADE: P", "pack.evaluator_raised"),
    ("GRADE: Cannot tell", "pack.evaluator_raised"),
    ("GRADE: CI", "pack.evaluator_raised"),
    ("GRADE: C\nGRADE:", "pack.evaluator_raised"),
    ("\n", "pack.evaluator_raised"),
    ('{"score": 1}', "pack.evaluator_raised"),
]


@pytest.mark.parametrize("row", GRADERS, ids=lambda row: row.name)
@pytest.mark.parametrize(("reply", "code"), BAD_REPLIES, ids=lambda part: str(part)[:30])
def test_a_judge_that_gives_no_grade_is_an_error(row: ScorerRow, reply: Any, code: str) -> None:
    outcome = Bench(judge=[reply]).score(evaluator(row.name), RECORD)
    assert outcome.kind == "error"
    assert outcome.error is not None
    assert outcome.error.code == code


@pytest.mark.parametrize("row", GRADERS, ids=lambda row: row.name)
def test_a_grade_that_a_pattern_of_ones_own_finds_and_inspect_does_not_know_is_an_error(row: ScorerRow) -> None:
    outcome = Bench(judge=["GRADE: A"]).score(evaluator(row.name), RECORD, grade_pattern=r"GRADE: (\w)")
    assert "'A' is no grade" in str(outcome.error)


@pytest.mark.parametrize("case", [one for one in DETERMINISTIC if one.output])
def test_a_scorer_without_a_judge_asks_none(case: Case) -> None:
    bench = Bench(judge=[failure("judge.refused")])
    assert bench.score(evaluator(case.name), case.record, **case.params).kind == "scored"
    assert bench.questions == []


@pytest.mark.parametrize(
    "value", ["", "A", "correct", "nan", "inf", float("nan"), float("inf"), [1], {"a": 1}], ids=repr
)
def test_a_value_that_inspect_would_count_as_zero_is_refused(value: Any) -> None:
    with pytest.raises(NoGrade):
        score_of(Verdict(value=value))


VALUES = [
    ("C", 1),
    ("P", 0.5),
    ("I", 0),
    ("N", 0),
    ("yes", 1),
    ("False", 0),
    ("0.25", 0.25),
    (True, 1),
    (3, 3),
    (0.2, 0.2),
]


@pytest.mark.parametrize(("value", "number"), VALUES)
def test_a_value_is_the_number_that_inspect_makes_of_it(value: Any, number: float) -> None:
    assert score_of(Verdict(value=value)).value == number


def test_a_scorer_that_declines_or_runs_out_of_time_gives_no_score() -> None:
    with pytest.raises(NoGrade):
        score_of(None)
    late = Verdict(value="I", explanation="It took too long.", metadata={"math_scorer_status": "answer_timeout"})
    with pytest.raises(NoGrade, match="more time"):
        score_of(late)


def test_a_reference_that_is_no_mathematics_is_an_error() -> None:
    record = Record(output="3", reference="os.system(1)")
    assert "Could not parse" in str(Bench().score(evaluator("math"), record).error)


@pytest.mark.parametrize("row", SCORERS, ids=lambda row: row.name)
@pytest.mark.parametrize("lacking", ["output", "reference"])
def test_a_record_that_lacks_a_field_is_skipped(row: ScorerRow, lacking: str) -> None:
    fields: dict[str, Any] = {"input": "?", "output": "x", "reference": "x", "metadata": {"choices": ["x", "y"]}}
    del fields[lacking]
    params = {"pattern": "letter"} if row.name == "answer" else {"pattern": "x"} if row.name == "pattern" else {}
    outcome = Bench(judge=[]).score(evaluator(row.name), Record(**fields), **params)
    assert outcome.reason == f"record has no {lacking}"


def test_choices_must_be_there_and_texts_and_hold_the_reference() -> None:
    fields: dict[str, Any] = {"output": "ANSWER: B", "reference": "B"}
    choice = evaluator("choice")
    assert Bench().score(choice, Record(**fields)).reason == "record has no metadata.choices"
    for choices, message in (("ab", "no list of texts"), ([1, 2], "no list of texts"), (["a"], "beyond")):
        outcome = Bench().score(choice, Record(**fields, metadata={"choices": choices}))
        assert message in str(outcome.error)


def test_a_conversation_is_graded_by_its_last_answer_and_shown_as_a_history() -> None:
    output = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "look", "arguments": '{"at": "map"}'}]},
        {"role": "tool", "tool_call_id": "1", "name": "look", "content": "France"},
        {"role": "assistant", "content": "Paris"},
    ]
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "The capital?"}]
    record = Record(input=asked, output=output, reference="Paris")
    bench = Bench(judge=["GRADE: C"])
    assert bench.score(evaluator("model-graded-qa"), record, include_history=True).passed
    prompt = bench.questions[0].messages[0]["content"]
    assert "The capital?" in prompt
    assert 'look(at="map")' in prompt.replace("'", '"')
    assert "[Submission]: Paris" in prompt
    assert "Be brief." not in prompt
    assert Bench().score(evaluator("match"), record, location="exact").passed


def test_the_score_names_the_grade_the_answer_and_the_replies() -> None:
    score = Bench(judge=["GRADE: C"]).score(evaluator(GRADED[0].name), RECORD).score
    assert score.metadata == {"grade": "C", "answer": "Paris"}
    assert score.explanation == "GRADE: C"
