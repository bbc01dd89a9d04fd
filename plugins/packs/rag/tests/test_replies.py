"""Every question of the pack asks for a form that providers hold a model to, and that the kernel can check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evalsi import AskError, JudgeReply, Question, Record
from evalsi.definition import definition_of
from evalsi.reply_check import schema_fault
from evalsi.testing import Bench, failure
from evalsi_pack_rag import EVALUATORS
from evalsi_pack_rag.prompts import CHUNK, prompt_sha256
from evalsi_pack_rag.replies import answered, origin

RECORD = Record(
    input="May my dog ride?", output="It leaves at seven [1].", context=["At seven."], reference="It leaves at seven."
)


def least(schema: dict[str, Any]) -> Any:
    """An answer that fits a form of this pack."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: least(part) for name, part in schema["properties"].items()}
    return {"string": "so", "boolean": True, "array": ["so"]}[schema["type"]]


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]:
        yield from parts(part)


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda one: definition_of(one).name)
def test_every_form_is_strict_and_has_the_reason_before_the_verdict(evaluator: Any) -> None:
    bench = Bench(judge=lambda question: least(dict(question.schema or {})))
    params = {"support": True} if definition_of(evaluator).name == "citation-accuracy" else {}
    assert bench.score(evaluator, RECORD, **params).kind == "scored"
    assert bench.questions
    for question in bench.questions:
        check(question)


def check(question: Question) -> None:
    schema = dict(question.schema or {})
    assert schema_fault(schema) == ""
    for part in parts(schema):
        assert set(part) <= {"type", "properties", "required", "additionalProperties", "enum", "items", "description"}
        if part["type"] == "object":
            names = list(part["properties"])
            assert part["required"] == names
            assert part["additionalProperties"] is False
            assert "reason" not in names or names[0] == "reason"
    assert [message["role"] for message in question.messages] == ["system", "user"]
    assert (question.temperature, question.max_tokens, question.seed, question.role) == (None, None, None, "primary")


def test_a_question_without_a_reply_raises_its_own_error() -> None:
    reply, error = JudgeReply(None, ""), failure("judge.refused")
    assert answered([reply, reply]) == [reply, reply]
    with pytest.raises(AskError) as raised:
        answered([reply, error])
    assert raised.value is error


def test_a_score_names_its_prompts_and_where_its_replies_are_kept() -> None:
    replies = [JudgeReply(None, "", ref="r1"), JudgeReply(None, ""), JudgeReply(None, "", ref="r2")]
    assert origin(replies, CHUNK) == {"prompt_sha256": prompt_sha256(CHUNK), "replies": ["r1", "r2"]}
