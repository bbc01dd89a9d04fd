"""The JSON Schema with which the judge is asked, from the pydantic class with which DeepEval reads the answer.

References are put in place, every key is required, and what no answer may be, such as a verdict too few, is said. It
must not know a metric.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel

_LEFT_OUT = ("$defs", "title", "default", "description")


class Demands(NamedTuple):
    """What an answer must hold beyond its types.

    Args:
        verdicts: so many verdicts at least.
        answers: so many answers, each yes or no.
        turns: how many turns there are that a verdict may point at; None for no such verdict.
        grade: the least and the greatest number that a score may be.
    """

    verdicts: int = 0
    answers: int = 1
    turns: int | None = None
    grade: tuple[float, float] = (0, 1)


def question_schema(answer: type[BaseModel], demands: Demands) -> dict[str, Any]:
    """The schema of an answer that DeepEval can score; an object at its top."""
    schema = _plain_schema(answer)
    properties = {name: _demanding(name, part, demands) for name, part in schema.get("properties", {}).items()}
    return {**schema, "properties": properties}


@lru_cache(maxsize=256)
def _plain_schema(answer: type[BaseModel]) -> dict[str, Any]:
    schema = answer.model_json_schema()
    plain: dict[str, Any] = _inlined(schema, schema.get("$defs", {}))
    return plain


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """A part of a schema without references; each object requires all of its keys: null is an answer, none is not."""
    if isinstance(part, list):
        return [_inlined(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined({**definitions[part["$ref"].rpartition("/")[2]], **_without(part, "$ref")}, definitions)
    plain = {key: _inlined(value, definitions) for key, value in _without(part, *_LEFT_OUT, "properties").items()}
    if "properties" in part:
        plain["properties"] = {name: _inlined(value, definitions) for name, value in part["properties"].items()}
        plain["required"] = list(part["properties"])
    return plain


def _demanding(name: str, part: dict[str, Any], demands: Demands) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "number":
        return {**part, "minimum": demands.grade[0], "maximum": demands.grade[1]}
    if kind != "array":
        return part
    if name == "verdicts":
        least = {"minItems": demands.verdicts} if demands.verdicts else {}
        return {**part, **least, "items": _pointing(part["items"], demands.turns)}
    if name == "answers":
        return {**part, "minItems": demands.answers, "items": {"type": "string", "enum": ["yes", "no"]}}
    # No step to judge by, no question on the text and no wish of a user are no basis for a score.
    return {**part, "minItems": 1} if name in ("steps", "questions", "intentions") else part


def _pointing(item: dict[str, Any], turns: int | None) -> dict[str, Any]:
    if turns is None or "index" not in item.get("properties", {}):
        return item
    index = {**item["properties"]["index"], "minimum": 0, "maximum": turns - 1}
    return {**item, "properties": {**item["properties"], "index": index}}


def _without(part: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in keys}
