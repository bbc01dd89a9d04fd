"""Faults that users of other tools reported, with their records and values: open-22 and open-23."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi import Question, Record
from evalsi.testing import Bench
from evalsi_pack_rag.answer_relevance import AnswerRelevance
from evalsi_pack_rag.context_precision import ContextPrecision
from evalsi_pack_rag.faithfulness import faithfulness

QUESTION = "May my dog ride the ferry?"
CRATE = "Dogs ride free in a crate."
RECORDS = {
    "g1": Record(id="g1", input=QUESTION, output="", context=[CRATE]),
    "g2": Record(id="g2", input=QUESTION, output="Yes, on Tuesdays only.", context=[""]),
    "g3": Record(id="g3", input=QUESTION, output="No idea.", context=[CRATE]),
}


def no_claims(question: Question) -> dict[str, Any]:
    """A judge that finds no claim, and else answers as well as it can."""
    if "claims" in dict(question.schema or {})["properties"]:
        return {"claims": []}
    return {"reason": "Perfect.", "grade": "fully"}


def test_an_empty_answer_has_no_claims_no_relevance_and_costs_no_question() -> None:
    bench = Bench(judge=no_claims)
    faithful = bench.score(faithfulness, RECORDS["g1"])
    assert faithful.kind == "skipped"
    assert faithful.reason.startswith("no claims")
    assert bench.score(AnswerRelevance, RECORDS["g1"]).value == 0.0
    assert bench.questions == []


def test_an_answer_without_any_context_is_never_faithful() -> None:
    outcome = Bench(judge=no_claims).score(faithfulness, RECORDS["g2"])
    assert outcome.kind == "error"
    assert outcome.scores == ()


def test_an_answer_without_claims_is_neither_faithful_nor_unfaithful() -> None:
    outcome = Bench(judge=no_claims).score(faithfulness, RECORDS["g3"])
    assert outcome.kind == "skipped"
    assert outcome.reason.startswith("no claims")


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [([0, 1], 0.5), ([1, 1, 1], 1.0), ([1, 0, 1, 0], 0.833333), ([0, 1, 1], 0.583333), ([0, 0], 0.0)],
)
def test_context_precision_depends_on_the_rank_and_reaches_1(relevance: list[int], expected: float) -> None:
    context = [f"chunk {rank}" for rank in range(len(relevance))]
    replies = [{"reason": "so", "relevant": bool(one)} for one in relevance]
    outcome = Bench(judge=replies).score(ContextPrecision, Record(input=QUESTION, context=context))
    assert outcome.value == pytest.approx(expected, abs=1e-6)
    assert (outcome.value == 1.0) is (expected == 1.0)
