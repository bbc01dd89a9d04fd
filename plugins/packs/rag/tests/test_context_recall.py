"""Context recall, end to end: the reference's sentences by rules, their support by the judge."""

from __future__ import annotations

from typing import Any

import pytest

import evalsi_pack_rag
from evalsi import Question, Record
from evalsi.testing import Bench, failure
from evalsi_pack_rag.context_recall import ContextRecall
from evalsi_pack_rag.prompts import SUPPORT, prompt_sha256

CONTEXT = ["The ferry leaves at seven.", "Dogs ride free in a crate."]


def by_word(question: Question) -> dict[str, Any]:
    """A judge that finds supported what does not speak of Tuesdays."""
    text = question.messages[1]["content"]
    verdicts = {}
    for name in dict(question.schema or {})["properties"]:
        statement = text.split(f"<{name} ")[1].split("\n")[1]
        verdicts[name] = {"reason": "It looks.", "verdict": "not_stated" if "Tuesday" in statement else "supported"}
    return verdicts


def of(reference: Any, context: list[str] = CONTEXT, **fields: Any) -> Record:
    return Record(id="ferry", reference=reference, context=context, **fields)


def test_it_is_the_share_of_the_references_sentences_that_the_context_supports() -> None:
    bench = Bench(judge=by_word)
    outcome = bench.score(ContextRecall, of("It leaves at seven. Dogs ride free. No dogs on Tuesdays."))
    assert outcome.value == pytest.approx(2 / 3)
    assert outcome.score.explanation == "2 of 3 sentences supported; the first that is not: No dogs on Tuesdays."
    metadata = outcome.score.metadata or {}
    assert metadata["sentences"][0] == {
        "sentence": "It leaves at seven.", "verdict": "supported", "reason": "It looks.",
    }  # fmt: skip
    assert metadata["prompt_sha256"] == prompt_sha256(SUPPORT)


def test_all_sentences_are_one_question_with_the_reference_and_the_input_beside_them() -> None:
    bench = Bench(judge=by_word)
    bench.score(ContextRecall, of("The ferry is red. It leaves at seven.", input="What of the ferry?"))
    (question,) = bench.questions
    text = question.messages[1]["content"]
    assert all(one in text for one in [*CONTEXT, "<question ", "<passage ", "<statement_2 "])
    # A single sentence is its own passage.
    bench.score(ContextRecall, of("The ferry is red."))
    assert "<passage " not in bench.questions[1].messages[1]["content"]
    assert "<question " not in bench.questions[1].messages[1]["content"]


def test_the_best_reference_counts() -> None:
    bench = Bench(judge=by_word)
    outcome = bench.score(ContextRecall, of(["No dogs on Tuesdays.", "Dogs ride. Tuesdays not.", "Dogs ride free."]))
    assert outcome.value == 1.0
    assert len(bench.questions) == 3
    assert [one["sentence"] for one in (outcome.score.metadata or {})["sentences"]] == ["Dogs ride free."]


def test_many_sentences_are_several_questions() -> None:
    bench = Bench(judge=by_word)
    sentences = [f"Line {number} leaves." for number in range(24)] + ["No dogs on Tuesdays."]
    assert bench.score(ContextRecall, of([" ".join(sentences), "Tuesday."])).value == 0.96
    assert len(bench.questions) == 3


@pytest.mark.parametrize(
    ("reference", "count"),
    [("渡船七点开。狗免费。", 2), ("नौका सात बजे छूट्छ। कुकुर जान्छ।", 2), ("تغادر العبارة. هل الكلاب مجانية؟ نعم.", 3)],
)
def test_sentences_of_any_script_are_counted(reference: str, count: int) -> None:
    bench = Bench(judge=by_word)
    (outcome,) = bench.run_pack(evalsi_pack_rag, "context-recall", [of(reference)]).outcomes
    assert outcome.value == 1.0
    assert len((outcome.score.metadata or {})["sentences"]) == count


@pytest.mark.parametrize("reference", ["", "…", ["!!!", " "]])
def test_a_reference_that_says_nothing_is_an_error_of_the_data(reference: Any) -> None:
    outcome = Bench(judge=[]).score(ContextRecall, of(reference))
    assert outcome.error is not None
    assert "no reference holds a letter or a digit; correct the references" in outcome.error.message


def test_one_that_says_nothing_among_others_is_left_out() -> None:
    assert Bench(judge=by_word).score(ContextRecall, of(["…", "Dogs ride free."])).value == 1.0


def test_e10_an_empty_context_is_skipped_and_nothing_but_blanks_is_an_error() -> None:
    bench = Bench(judge=[])
    for reference in ("Dogs ride free.", "…"):
        assert bench.score(ContextRecall, of(reference, [])).reason == "the context is empty: nothing was retrieved"
    assert bench.score(ContextRecall, of("Dogs ride free.", [" "])).error is not None


def test_a_missing_field_is_a_skip() -> None:
    bench = Bench(judge=[])
    assert bench.score(ContextRecall, Record(context=CONTEXT)).reason == "record has no reference"
    assert bench.score(ContextRecall, Record(reference="Dogs ride.")).reason == "record has no context"


def test_a_judge_that_fails_is_an_error_and_never_a_score() -> None:
    outcome = Bench(judge=[failure("judge.truncated")]).score(ContextRecall, of("Dogs ride free."))
    assert outcome.error is not None
    assert outcome.error.code == "judge.truncated"
