"""JSON Schemas of the answers that RAGAS expects, as strict as its prompts.

RAGAS asks for "0 or 1" but accepts any integer, counts unknown values as a no, and takes an empty list of verdicts for
a perfect answer. The schemas reject such answers, so that the judge is asked to correct them.
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
"""Stricter keywords by the title of an object and the name of a property."""

COUNTED = {
    "NLIStatementOutput": ("statements", "statements"),
    "StatementFaithfulnessOutput": ("statements", "statements"),
    "TopicClassificationOutput": ("topics", "classifications"),
    "AnswersGenerated": ("questions", "answers"),
}
"""Answers with one verdict per item: the name of the list in the prompt, and the name of the list in the answer."""

_LISTED = {
    "StatementGeneratorOutput": "statements",
    "ClaimDecompositionOutput": "claims",
    "EntitiesList": "entities",
    "ExtractedKeyphrases": "keyphrases",
    "QuestionsGenerated": "questions",
    "TopicExtractionOutput": "topics",
}
"""Answers that list the items to be judged next; if the list is empty there is nothing to judge."""


def answer_schema(written: Mapping[str, Any]) -> Schema:
    """Return a pydantic schema with its references inlined and stricter limits.

    Args:
        written: result of `model_json_schema()`.
    """
    schema = _inlined(dict(written), written.get("$defs", {}))
    assert isinstance(schema, dict)
    return schema


def with_count(schema: Schema, answer: str, count: int) -> Schema:
    """Return the schema with `count` as the minimum number of verdicts."""
    _, field = COUNTED[answer]
    properties = schema["properties"]
    return {**schema, "properties": {**properties, field: {**properties[field], "minItems": count}}}


def nothing_listed(answer: str, value: Mapping[str, Any], *, is_first: bool) -> str:
    """Return the reason of a skip if the answer lists nothing to judge, else "".

    Args:
        answer: name of the class that RAGAS expects.
        value: answer of the judge.
        is_first: whether it is the first answer for the record.
    """
    field = _LISTED.get(answer, "")
    if not field or any(one.strip() for one in value[field]):
        return ""
    # The second answer lists the entities of the context; an empty list there is a valid result.
    if answer == "EntitiesList" and not is_first:
        return ""
    return f"no {field}: the judge found none"


def fault(answer: str, value: Mapping[str, Any], count: int | None) -> str:
    """Return a sentence on what is wrong with an answer that matches its schema, or "" if it is valid."""
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
