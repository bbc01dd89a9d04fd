"""pairwise, end to end with a scripted judge: a preference must hold in both orders, and a failing judge is none."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi_pack_judge
from evalsi import ParamError, Question, Record
from evalsi.testing import Bench, ImpossibleReply, Outcome, failure
from evalsi_pack_judge.pairwise import WIN_RATE, Pairwise
from evalsi_pack_judge.pairwise_prompt import pairwise_prompt
from evalsi_pack_judge.rubrics import HELPFULNESS

NEW, OLD = "The ferry leaves at seven.", "Soon."
RECORD = Record(id="1", input="When?", output=NEW, metadata={"baseline": OLD})


def said(verdict: str, reason: str = "It names the hour.") -> dict[str, Any]:
    return {"reason": reason, "verdict": verdict}


def compared(*verdicts: str, record: Record = RECORD, **params: Any) -> Outcome:
    return Bench(judge=[said(verdict, f"reason {verdict}") for verdict in verdicts]).score(Pairwise, record, **params)


def label_of(outcome: Outcome) -> str:
    assert [score.name for score in outcome.scores] == [None, WIN_RATE]
    label = outcome.scores[0].label
    assert label is not None
    assert outcome[WIN_RATE].value == {"win": 1.0, "tie": 0.5, "loss": 0.0}[label]
    return label


def prefers(text: str) -> Any:
    """A judge that looks for a text, wherever it stands."""

    def judge(question: Question) -> dict[str, Any]:
        first, _, second = question.messages[1]["content"].partition("<answer_b")
        return said("a" if text in first.partition("<answer_a")[2] else "b" if text in second else "tie")

    return judge


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ("a", "b", "win"),
        ("b", "a", "loss"),
        ("tie", "tie", "tie"),
        ("a", "a", "tie"),
        ("b", "b", "tie"),
        ("a", "tie", "tie"),
        ("tie", "a", "tie"),
    ],
)
def test_a_preference_holds_in_both_orders_or_is_a_tie(first: str, second: str, label: str) -> None:
    outcome = compared(first, second)
    assert label_of(outcome) == label
    agree = label != "tie" or first == second == "tie"
    expected = f"reason {first}" if agree else "In the other order the judge says something else."
    assert outcome.scores[0].explanation == expected


@pytest.mark.parametrize(("text", "label"), [(NEW, "win"), (OLD, "loss"), ("nowhere", "tie")])
def test_a_judge_that_is_led_by_the_text_alone_is_followed(text: str, label: str) -> None:
    assert label_of(Bench(judge=prefers(text)).score(Pairwise, RECORD)) == label


@pytest.mark.parametrize(("verdict", "label"), [("a", "win"), ("b", "loss"), ("tie", "tie")])
def test_without_a_swap_one_question_decides(verdict: str, label: str) -> None:
    assert label_of(compared(verdict, swap=False)) == label


def test_both_orders_hold_the_same_but_for_the_two_answers() -> None:
    bench = Bench(judge=[said("a"), said("b")])
    bench.score(Pairwise, RECORD)
    first, second = (question.messages for question in bench.questions)
    assert first[0] == second[0]
    for messages, (a, b) in zip((first, second), ((NEW, OLD), (OLD, NEW)), strict=True):
        user = messages[1]["content"]
        assert user.index("<input ") < user.index("<answer_a ") < user.index(a)
        assert user.index(a) < user.index("<answer_b ") < user.rindex(b)


def test_a_score_says_what_was_said_in_each_order_and_by_which_prompt() -> None:
    assert compared("a", "a").scores[0].metadata == {
        "rubric": "helpfulness",
        "orders": [
            {"first": "output", "verdict": "win", "reason": "reason a"},
            {"first": "other", "verdict": "loss", "reason": "reason a"},
        ],
        "prompt_sha256": pairwise_prompt(HELPFULNESS.text).sha256,
        "replies": [],
    }


@pytest.mark.parametrize("answers", [[failure("judge.refused"), said("b")], [said("a"), failure("judge.refused")]])
def test_one_order_that_failed_fails_the_record(answers: list[Any]) -> None:
    outcome = Bench(judge=answers).score(Pairwise, RECORD)
    assert outcome.error is not None
    assert outcome.error.code == "judge.refused"


@pytest.mark.parametrize("reply", [said("A"), said("win"), {"verdict": "a"}, {"reason": "x"}, said("")], ids=str)
def test_what_is_no_verdict_does_not_fit_the_question(reply: dict[str, Any]) -> None:
    with pytest.raises(ImpossibleReply):
        Bench(judge=[reply] * 2).score(Pairwise, RECORD)


@pytest.mark.parametrize("metadata", [{}, {"baseline": None}, {"other": OLD}])
def test_a_record_without_another_output_is_skipped(metadata: dict[str, Any]) -> None:
    outcome = Bench(judge=[]).score(Pairwise, Record(input="When?", output=NEW, metadata=metadata))
    assert outcome.reason == "record has no metadata.baseline"


@pytest.mark.parametrize("missing", ["output", "metadata", "input"])
def test_a_record_that_lacks_a_field_is_skipped(missing: str) -> None:
    fields: dict[str, Any] = {"input": "When?", "output": NEW, "metadata": {"baseline": OLD}}
    del fields[missing]
    assert Bench(judge=[]).score(Pairwise, Record(**fields)).reason == f"record has no {missing}"


def test_the_other_output_may_stand_anywhere_in_the_metadata_and_be_a_conversation() -> None:
    other = [{"role": "user", "content": "And?"}, {"role": "assistant", "content": OLD}]
    record = Record(input="When?", output=NEW, metadata={"runs": {"last": other}})
    bench = Bench(judge=prefers(NEW))
    assert label_of(bench.score(Pairwise, record, other="runs.last")) == "win"
    user = bench.questions[0].messages[1]["content"]
    assert "\n<answer_b_history_1_user " in user
    assert f"\n{OLD}\n</answer_b " in user
    assert Bench(judge=[]).score(Pairwise, record, other="runs.first").reason == "record has no metadata.runs.first"


def test_two_outputs_that_are_the_same_tie_without_a_question() -> None:
    outcome = compared(record=Record(input="When?", output=NEW, metadata={"baseline": NEW}))
    assert label_of(outcome) == "tie"
    assert outcome.scores[0].explanation == "The two outputs are the same."


@pytest.mark.parametrize(("output", "other", "label"), [("", OLD, "loss"), (NEW, " ", "win"), ("", "\n", "tie")])
def test_silence_never_wins_and_needs_no_judge(output: str, other: str, label: str) -> None:
    record = Record(input="When?", output=output, metadata={"baseline": other})
    assert label_of(compared(record=record)) == label
    # Unless a user says what counts.
    assert label_of(compared("a", "b", record=record, rubric="It says less.")) == "win"


def test_e10_an_empty_context_is_skipped() -> None:
    record = Record(output=NEW, context=[], metadata={"baseline": OLD})
    assert compared(record=record, rubric="faithfulness").reason == "the context is empty: nothing was retrieved"


def test_the_rubric_says_what_is_shown() -> None:
    record = Record(input="When?", output=NEW, reference="At 7.", context=["At 7."], metadata={"baseline": OLD})
    for rubric, names in (
        ("correctness", {"input", "reference"}),
        ("It names the hour.", {"input", "reference", "context"}),
    ):
        bench = Bench(judge=prefers(NEW))
        bench.score(Pairwise, record, rubric=rubric)
        user = bench.questions[0].messages[1]["content"]
        assert {name for name in ("input", "reference", "context") if f"\n<{name} " in user} == names


@pytest.mark.parametrize("other", ["", " "])
def test_the_other_output_needs_a_name(other: str) -> None:
    with pytest.raises(ParamError, match="names nothing"):
        compared(other=other)


def test_it_travels_through_a_session() -> None:
    bench = Bench(judge=prefers("सात"))
    record = Record(id="1", input="कति बजे?", output="सात बजे।", metadata={"baseline": "छिट्टै।"})
    (outcome,) = bench.run_pack(evalsi_pack_judge, "pairwise", [record]).outcomes
    assert label_of(outcome) == "win"
