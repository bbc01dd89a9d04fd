"""criteria, end to end with a scripted judge: the weighted share that is met, each criterion asked by itself."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi_pack_judge
from evalsi import ParamError, Question, Record
from evalsi.testing import Bench, ImpossibleReply, Outcome, failure
from evalsi_pack_judge.criteria import Criteria

RECORD = Record(id="1", input="When does the ferry leave?", output="At seven.")
HOUR, PORT = "It names the hour.", {"name": "port", "text": "It names the port.", "weight": 3}


def said(met: bool, reason: str = "It does so.") -> dict[str, Any]:
    return {"reason": reason, "met": met}


def checked(*met: bool, criteria: list[Any], record: Record = RECORD) -> Outcome:
    return Bench(judge=[said(one) for one in met]).score(Criteria, record, criteria=criteria)


@pytest.mark.parametrize(
    ("met", "value"), [((True, True), 1.0), ((True, False), 0.25), ((False, True), 0.75), ((False, False), 0.0)]
)
def test_the_score_is_the_weighted_share_that_is_met(met: tuple[bool, ...], value: float) -> None:
    assert checked(*met, criteria=[HOUR, PORT]).value == value


def test_weights_that_are_no_binary_fractions_still_reach_1() -> None:
    criteria = [{"text": f"number {number}", "weight": 0.1} for number in range(10)]
    assert checked(*[True] * 10, criteria=criteria).value == 1.0


def test_each_criterion_is_told_with_its_reason() -> None:
    answers = [said(True, "Seven."), said(False, "No port is named.")]
    outcome = Bench(judge=answers).score(Criteria, RECORD, criteria=[HOUR, PORT])
    assert outcome.score.explanation == "1 of 2 criteria met. Not met: port: No port is named."
    assert outcome.score.metadata is not None
    assert outcome.score.metadata["criteria"] == [
        {"name": HOUR, "weight": 1.0, "reason": "Seven.", "met": True},
        {"name": "port", "weight": 3.0, "reason": "No port is named.", "met": False},
    ]
    assert checked(True, criteria=[HOUR]).score.explanation == "1 of 1 criteria met."


def test_the_prompt_s_hash_is_that_of_all_criteria() -> None:
    hashes = [
        (checked(*[True] * len(criteria), criteria=criteria).score.metadata or {})["prompt_sha256"]
        for criteria in ([HOUR], [HOUR, PORT], [PORT, HOUR], [HOUR, {"text": "It names the port."}])
    ]
    assert [len(one) for one in hashes] == [64] * 4
    assert len({hashes[0], hashes[1], hashes[2]}) == 3
    # A weight and a name are no part of what the judge reads.
    assert hashes[3] == hashes[1]


def test_each_criterion_is_asked_by_itself_below_the_texts() -> None:
    bench = Bench(judge=[said(True), said(True)])
    bench.score(Criteria, Record(id="1", input="When?", output="At 7.", context=["c1", "c2"]), criteria=[HOUR, PORT])
    first, second = (question.messages for question in bench.questions)
    assert first[0] == second[0]
    shared, _, task = first[1]["content"].partition("\n\nCriterion: ")
    assert task == f"{HOUR}\n\nDoes the answer meet this criterion?"
    assert second[1]["content"].startswith(f"{shared}\n\nCriterion: It names the port.\n")
    for name in ("input", "context_1", "context_2", "answer"):
        assert f"\n<{name} " in shared


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_one_criterion_that_could_not_be_judged_fails_the_record(failing: int) -> None:
    answers: list[Any] = [said(True)] * 3
    answers[failing] = failure("judge.truncated")
    outcome = Bench(judge=answers).score(Criteria, RECORD, criteria=["a", "b", "c"])
    assert outcome.error is not None
    assert outcome.error.code == "judge.truncated"


@pytest.mark.parametrize(
    "reply", [{"met": True}, {"reason": "x"}, {"reason": "x", "met": 1}, {"reason": "x", "met": "true"}], ids=str
)
def test_what_is_neither_true_nor_false_does_not_fit_the_question(reply: dict[str, Any]) -> None:
    with pytest.raises(ImpossibleReply):
        Bench(judge=[reply]).score(Criteria, RECORD, criteria=[HOUR])


def test_an_empty_output_is_judged_as_some_criteria_ask_for_silence() -> None:
    assert checked(True, criteria=["It names no price."], record=Record(output="")).value == 1.0


def test_a_record_without_an_output_is_skipped() -> None:
    outcome = Bench(judge=[]).score(Criteria, Record(input="When?"), criteria=[HOUR])
    assert outcome.reason == "record has no output"


@pytest.mark.parametrize(
    ("criteria", "why"),
    [
        ([""], "criterion 1 has no text"),
        ([HOUR, {"name": "x"}], "criterion 2 has no text"),
        ([{"text": 5}], "criterion 1 has no text"),
        ([{"text": "x", "weigth": 2}], "criterion 1 has 'weigth'. It takes text, name and weight."),
        ([{"text": "x", "weight": 0}], "criterion 1 has the weight 0"),
        ([{"text": "x", "weight": -1}], "criterion 1 has the weight -1"),
        ([{"text": "x", "weight": True}], "criterion 1 has the weight True"),
        ([{"text": "x", "weight": float("inf")}], "criterion 1 has the weight inf"),
        ([{"text": "x", "weight": "2"}], "criterion 1 has the weight '2'"),
        ([{"text": "x", "name": ""}], "criterion 1 has the name ''"),
        ([{"text": "x", "name": 1}], "criterion 1 has the name 1"),
        ([HOUR, HOUR], "two are called 'It names the hour.'"),
        ([{"text": "x", "name": "n"}, {"text": "y", "name": "n"}], "two are called 'n'"),
        ([f"criterion {number}" for number in range(101)], "there are 101; at most 100 are judged"),
        ([{"text": "It is.", "weight": 1e308, "name": one} for one in "ab"], "come to more than a float can hold"),
    ],
)
def test_what_is_no_list_of_criteria_is_refused_before_any_record(criteria: list[Any], why: str) -> None:
    with pytest.raises(ParamError) as caught:
        checked(criteria=criteria)
    assert why in str(caught.value)


def test_it_travels_through_a_session() -> None:
    def judge(question: Question) -> dict[str, Any]:
        return said("ঘণ্টা" in question.messages[1]["content"].partition("Criterion: ")[2], "কারণ")

    params = {"criteria": ["ঘণ্টা বলে", "বন্দর বলে"]}
    (outcome,) = Bench(judge=judge).run_pack(evalsi_pack_judge, "criteria", [RECORD], params).outcomes
    assert (outcome.value, outcome.score.explanation) == (0.5, "1 of 2 criteria met. Not met: বন্দর বলে: কারণ")
