"""The question that judges statements: its form admits exactly one verdict a statement."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import JudgeReply
from evalsi.reply_check import misfit, schema_fault
from evalsi_pack_rag.support import Judged, share_supported, support_questions, support_verdicts
from evalsi_pack_rag.texts import Chunk

CHUNKS = [Chunk(1, "The ferry leaves at seven."), Chunk(3, "Dogs ride free.")]


def verdict(name: str = "supported") -> dict[str, str]:
    return {"reason": "It says so.", "verdict": name}


def form_of(count: int) -> dict[str, Any]:
    (question,) = support_questions([f"claim {number}" for number in range(count)], CHUNKS)
    assert question.schema is not None
    return dict(question.schema)


def test_the_question_holds_context_setting_and_statements_in_this_order() -> None:
    (question,) = support_questions(["It leaves at seven."], CHUNKS, [("question", "When?")])
    text = question.messages[1]["content"]
    names = [line[1:].split(" ")[0] for line in text.splitlines() if line.startswith("<") and "/" not in line]
    assert names == ["context_1", "context_3", "question", "statement_1"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"statement_1": verdict()},
        {"statement_1": verdict(), "statement_2": verdict(), "statement_3": verdict()},
        {"statement_1": verdict(), "statement_3": verdict()},
        {"statement_1": verdict(), "statement_2": verdict("yes")},
        {"statement_1": verdict(), "statement_2": {"verdict": "supported"}},
        {"statement_1": verdict(), "statement_2": {**verdict(), "score": 1}},
        {"statement_1": verdict(), "statement_2": None},
        {"statement_1": verdict(), "statement_2": True},
        {"statements": [verdict(), verdict()]},
    ],
)
def test_too_few_too_many_or_other_verdicts_do_not_fit(answer: dict[str, Any]) -> None:
    assert misfit(form_of(2), {"statement_1": verdict(), "statement_2": verdict()}) == ""
    assert misfit(form_of(2), answer) != ""


@pytest.mark.parametrize("names", [["statement_1"], ["statement_1", "statement_2", "statement_3"], []])
def test_a_reply_with_other_parts_than_asked_for_is_an_error_all_the_same(names: list[str]) -> None:
    reply = JudgeReply({name: verdict() for name in names}, "")
    with pytest.raises(ValueError, match=r"was asked for statement_1, statement_2 and answered .*; nothing of it"):
        support_verdicts(["a", "b"], [reply])


def test_the_order_of_a_reply_makes_no_difference() -> None:
    reply = JudgeReply({"statement_2": verdict("contradicted"), "statement_1": verdict()}, "")
    assert [one.verdict for one in support_verdicts(["a", "b"], [reply])] == ["supported", "contradicted"]


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (20, [20]), (21, [20, 1]), (45, [20, 20, 5])])
def test_many_statements_are_several_questions_that_share_their_beginning(count: int, sizes: list[int]) -> None:
    statements = [f"claim {number}" for number in range(count)]
    questions = support_questions(statements, CHUNKS)
    assert [len(dict(question.schema or {})["properties"]) for question in questions] == sizes
    beginnings = {question.messages[1]["content"].partition("\n\n<statement")[0] for question in questions}
    assert len(beginnings) == min(len(sizes), 1)

    replies = [
        JudgeReply({name: verdict() for name in dict(question.schema or {})["properties"]}, "")
        for question in questions
    ]
    assert [one.statement for one in support_verdicts(statements, replies)] == statements


def test_the_form_is_strict_and_within_what_the_kernel_checks() -> None:
    for question in support_questions(["a"] * 20, CHUNKS):
        schema = dict(question.schema or {})
        assert schema_fault(schema) == ""
        parts = [schema, *schema["properties"].values()]
        assert all(part["required"] == list(part["properties"]) for part in parts)
        assert all(part["additionalProperties"] is False for part in parts)
        assert sum(len(part["properties"]) for part in parts) <= 100


@given(st.lists(st.sampled_from(["supported", "contradicted", "not_stated"]), min_size=1))
def test_the_share_counts_only_what_is_supported(verdicts: list[str]) -> None:
    judged = [Judged("a", one, "") for one in verdicts]
    assert share_supported(judged) == verdicts.count("supported") / len(verdicts)
    assert 0.0 <= share_supported(judged) <= 1.0
