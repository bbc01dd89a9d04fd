"""The JSON Schema of an answer that RAGAS expects, in the kernel's subset, and as narrow as RAGAS' own words are.

RAGAS asks for "0 or 1" and takes any integer, counts what it does not know as a no, and takes an empty list of
verdicts for a perfect answer. What is no answer is refused here, so that the judge is asked to correct it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_YES_OR_NO = {"enum": [0, 1]}
_NARROWER: dict[tuple[str, str], Schema] = {
    ("StatementFaithfulnessAnswer", "verdict"): _YES_OR_NO,
    ("ContextPrecisionOutput", "verdict"): _YES_OR_NO,
    ("AspectCriticOutput", "verdict"): _YES_OR_NO,
    ("ContextRecallClassification", "attributed"): _YES_OR_NO,
    ("ContextRecallOutput", "classifications"): {"minItems": 1},
    ("AnswerRelevanceOutput", "noncommittal"): _YES_OR_NO,
    ("AnswerRelevanceOutput", "question"): {"minLength": 1},
    ("AnswerAccuracyOutput", "rating"): {"enum": [0, 2, 4]},
    ("ContextRelevanceOutput", "rating"): {"enum": [0, 1, 2]},
    ("ResponseGroundednessOutput", "rating"): {"enum": [0, 1, 2]},
    ("RubricScoreOutput", "score"): {"minimum": 1, "maximum": 5},
    ("InstanceRubricScoreOutput", "score"): {"minimum": 1, "maximum": 5},
    ("AnswersGenerated", "answers"): {"items": {"enum": ["0", "1"]}},
}
"""By the title of an object and the name of a property."""

COUNTED = {
    "NLIStatementOutput": ("statements", "statements"),
    "StatementFaithfulnessOutput": ("statements", "statements"),
    "TopicClassificationOutput": ("topics", "classifications"),
    "AnswersGenerated": ("questions", "answers"),
}
"""Answers of one verdict for each thing that was asked about: what the question calls these, and what the answer."""

_LISTED = {
    "StatementGeneratorOutput": "statements",
    "ClaimDecompositionOutput": "claims",
    "EntitiesList": "entities",
    "ExtractedKeyphrases": "keyphrases",
    "QuestionsGenerated": "questions",
    "TopicExtractionOutput": "topics",
}
"""Answers that list what is judged next; where the list is empty there is nothing to judge."""


def answer_schema(written: Mapping[str, Any]) -> Schema:
    """A schema as pydantic writes it, with what it refers to put in place, and narrowed.

    Args:
        written: of `model_json_schema()`.
    """
    schema = _inlined(dict(written), written.get("$defs", {}))
    assert isinstance(schema, dict)
    return schema


def with_count(schema: Schema, answer: str, count: int) -> Schema:
    """The schema with at least so many verdicts."""
    _, field = COUNTED[answer]
    properties = schema["properties"]
    return {**schema, "properties": {**properties, field: {**properties[field], "minItems": count}}}


def nothing_listed(answer: str, value: Mapping[str, Any], *, is_first: bool) -> str:
    """Why there is nothing to judge, as the reason of a skip; "" where there is.

    Args:
        answer: the name of the class that RAGAS expects.
        value: what the judge answered.
        is_first: whether it is the first answer for the record.
    """
    field = _LISTED.get(answer, "")
    if not field or any(one.strip() for one in value[field]):
        return ""
    # The entities of the context come second; that it names none is a finding.
    if answer == "EntitiesList" and not is_first:
        return ""
    return f"no {field}: the judge found none"


def fault(answer: str, value: Mapping[str, Any], count: int | None) -> str:
    """What is wrong with an answer that fits its schema, as a sentence; "" when nothing is."""
    if count is not None:
        field = COUNTED[answer][1]
        if len(value[field]) != count:
            return f"the judge gave {len(value[field])} {field} where {count} were asked for"
    if answer == "ClassificationWithReason" and not any(value.values()):
        return "the judge classified no statement"
    return ""


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inlined(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        named = definitions[part["$ref"].rpartition("/")[2]]
        beside = {key: value for key, value in part.items() if key != "$ref"}
        return _inlined({**named, **beside}, definitions)
    inlined = {key: _inlined(value, definitions) for key, value in part.items() if key != "$defs"}
    title = inlined.get("title", "")
    for name, schema in inlined.get("properties", {}).items():
        for key, value in _NARROWER.get((title, name), {}).items():
            schema[key] = {**schema[key], **value} if key == "items" else value
    return inlined
