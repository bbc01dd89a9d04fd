"""What the scripted judge answers fits the schema that was asked for, and is the same for the same question."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi.reply_check import misfit
from evalsi_conformance.schema_values import misfits, other_values, value_for
from evalsi_conformance.scripted_judge import Answer, ScriptedJudge
from evalsi_protocol.errors import WireError

SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}}, "required": ["score"]},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 4},
    {"type": "array", "items": {"enum": ["yes", "no"]}, "minItems": 3},
    {"type": ["string", "null"], "minLength": 40},
    {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    {"const": {"a": 1}},
    {"properties": {"a": {"type": "null"}, "b": {"type": "string"}}},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("pick", [0, 1, 2, 12345])
def test_a_made_up_value_fits_its_schema(schema: dict[str, Any], pick: int) -> None:
    assert misfit(schema, value_for(schema, pick)) == ""
    assert value_for(schema, pick) == value_for(schema, pick)


def test_what_a_schema_refers_to_is_followed() -> None:
    schema = {"$defs": {"grade": {"enum": ["A"]}}, "properties": {"g": {"$ref": "#/$defs/grade"}}}
    assert value_for(schema, 3) == {"g": "A"}
    assert value_for({"allOf": [{"type": "string"}, {"maxLength": 5}]}, 0) == "as th"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "boolean"}, {"type": "string"}, {"enum": ["a"]}, {"type": "integer", "minimum": 1, "maximum": 3},
        {"type": "number"}, {"type": "array"}, {"type": "object"}, {"type": ["string", "null"]}, {"const": 7},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, {"type": "string", "minLength": 3},
        {"type": "array", "items": {"type": "string"}},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_param_does_not_fit(schema: dict[str, Any]) -> None:
    assert misfits(schema)
    assert all(misfit(schema, wrong) for wrong in misfits(schema))


def test_of_a_schema_that_allows_much_no_wrong_param_is_made_up() -> None:
    assert misfits({}) == []
    assert misfits({"type": ["string", "integer", "number", "boolean", "array", "object", "null"]}) == []


@pytest.mark.parametrize(
    "schema", [*SCHEMAS[:1], {"enum": ["a", "b"]}, {"type": "boolean"}, {"type": "string"}], ids=str
)
def test_p2_other_values_of_a_param_fit_its_schema(schema: dict[str, Any]) -> None:
    values = other_values(schema)
    assert len(values) > 1 or schema.get("type") == "object"
    assert not any(misfit(schema, value) for value in values)


def body(*texts: str) -> dict[str, Any]:
    return {"session": 2, "record": "r", "requests": [{"messages": [{"role": "user", "content": t}]} for t in texts]}


def test_the_judge_gives_the_same_answer_to_the_same_question_and_the_authors_where_it_fits() -> None:
    judge = ScriptedJudge([Answer("plain", {"score": 4})])
    said = judge.answer("judge.ask", body("Is it plain?", "What is it?"))
    assert said == ScriptedJudge([Answer("plain", {"score": 4})]).answer(
        "judge.ask", body("Is it plain?", "What is it?")
    )
    assert isinstance(said, dict)
    assert [reply["text"] for reply in said["replies"]] == ['{"score": 4}', "As the words show."]
    assert judge.asked == {(2, "r")}


def test_texts_have_vectors_of_one_length_and_other_capabilities_are_not_bound() -> None:
    judge = ScriptedJudge()
    said = judge.answer("embed.ask", {"texts": ["a", "b", "a"]})
    assert isinstance(said, dict)
    first, second, again = said["vectors"]
    assert (len(first), first == again, first == second) == (len(second), True, False)
    for method in ("sandbox.run", "blob.get"):
        refused = judge.answer(method, {})
        assert isinstance(refused, WireError)
        assert refused.code == "capability.not_bound"


@pytest.mark.parametrize("method", ["judge.ask", "embed.ask"])
def test_a_question_that_cannot_be_read_is_refused(method: str) -> None:
    refused = ScriptedJudge().answer(method, {"requests": "x", "texts": [1]})
    assert isinstance(refused, WireError)
    assert refused.code == "protocol.body"
