"""Params that DeepEval refuses, or that it would take and then fail on, are refused when the session opens."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.deepeval.tests.material import RECORD, dag
from adapters.deepeval.tests.scripted import judge
from pydantic import ValidationError

from evalsi import ParamError, Record
from evalsi.testing import Bench
from evalsi_deepeval import EVALUATORS
from evalsi_deepeval.conversation_metrics import METRICS
from evalsi_deepeval.json_models import json_model

BY_NAME = dict(zip([metric.name for metric in METRICS], EVALUATORS, strict=True))
NO_CHILD = {"nodes": {"v": {"type": "VerdictNode", "verdict": True}}}
OTHER_METRIC: dict[str, Any] = dag(["actual_output"])
OTHER_METRIC["nodes"]["odd"]["child"] = {"type": "metric", "metric_class": "BiasMetric", "kwargs": {}}


@pytest.mark.parametrize(
    ("name", "params", "blamed"),
    [
        ("g-eval", {"criteria": None}, "criteria"),
        ("g-eval", {"criteria": " "}, "criteria"),
        ("g-eval", {"evaluation_steps": []}, "evaluation_steps"),
        ("g-eval", {"criteria": "Right?", "evaluation_params": ["outputs"]}, "criteria"),
        ("g-eval", {"criteria": "Right?", "rubric": [{"score_range": [0, 11], "expected_outcome": "x"}]}, "rubric"),
        ("g-eval", {"criteria": "Right?", "rubric": [{"score_range": [5, 5], "expected_outcome": "x"}]}, "rubric"),
        ("g-eval", {"criteria": "Right?", "rubric": [{"score_range": [0, 3]}]}, "rubric"),
        ("conversational-g-eval", {}, "criteria"),
        ("arena-g-eval", {}, "criteria"),
        ("dag", {"dag": {}}, "dag"),
        ("dag", {"dag": {"nodes": {}}}, "dag"),
        ("dag", {"dag": NO_CHILD}, "dag"),
        ("dag", {"dag": {"nodes": {"a": {"type": "Node"}}}}, "dag"),
        ("dag", {"dag": OTHER_METRIC}, "dag"),
        ("dag", {"dag": dag(["outputs"])}, "dag"),
        ("pattern-match", {"pattern": "("}, "pattern"),
        ("tool-permission", {}, "allowed_tools"),
        ("tool-correctness", {"available_tools": [3]}, "available_tools"),
        ("json-correctness", {"expected_schema": {"type": "string"}}, "expected_schema"),
        ("json-correctness", {"expected_schema": {"$ref": "#/x"}}, "expected_schema"),
    ],
)
def test_a_value_that_makes_no_metric_is_refused_by_its_name(name: str, params: dict[str, Any], blamed: str) -> None:
    with pytest.raises(ParamError) as caught:
        Bench(judge=judge).score(BY_NAME[name], RECORD, **params)
    assert caught.value.param == blamed


def test_an_unknown_param_is_refused() -> None:
    with pytest.raises(TypeError, match="has no param 'model'"):
        Bench(judge=judge).score(BY_NAME["bias"], RECORD, model="my-judge")


def test_a_rubric_sets_the_range_of_the_grade() -> None:
    rubric = [{"score_range": [1, 3], "expected_outcome": "bad"}, {"score_range": [4, 5], "expected_outcome": "good"}]
    bench = Bench(judge=[{"reason": "Half.", "score": 3}])
    outcome = bench.score(BY_NAME["g-eval"], RECORD, evaluation_steps=["Read it."], rubric=rubric, threshold=0.5)
    assert outcome.scores[0].value == 0.5
    assert outcome["g-eval-passed"].passed is True
    (question,) = bench.questions
    assert question.schema is not None
    assert question.schema["properties"]["score"] == {"type": "number", "minimum": 1, "maximum": 5}


def test_named_alone_g_eval_judges_whether_the_output_answers_the_input_and_given_steps_go_before_that() -> None:
    bench = Bench(judge=judge)
    assert bench.score(BY_NAME["g-eval"], RECORD).kind == "scored"
    asked = [question.messages[0]["content"] for question in bench.questions]
    assert "answers the input correctly, completely and clearly" in asked[0]
    assert len(asked) == 2
    bench = Bench(judge=judge)
    assert bench.score(BY_NAME["g-eval"], RECORD, evaluation_steps=["Look for an hour."]).kind == "scored"
    (question,) = bench.questions
    assert "Look for an hour." in question.messages[0]["content"]
    assert "correctly, completely and clearly" not in question.messages[0]["content"]


def test_the_steps_are_asked_for_once_a_record_and_no_record_sees_those_of_another() -> None:
    bench = Bench(judge=judge)
    outcomes = bench.score_all(BY_NAME["g-eval"], [RECORD, RECORD], criteria="Right?")
    assert len(bench.questions) == 4
    assert outcomes[0].value == outcomes[1].value


@pytest.mark.parametrize("strict", [False, True])
def test_a_strict_grade_is_all_or_nothing(strict: bool) -> None:
    bench = Bench(judge=[{"reason": "Fine.", "score": 1}])
    outcome = bench.score(BY_NAME["g-eval"], RECORD, evaluation_steps=["Read it."], strict_mode=strict)
    assert outcome.scores[0].value == (1.0 if strict else 0.1)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "hour": {"type": "integer", "minimum": 0, "maximum": 23},
        "model_config": {"enum": ["a", "b"]},
        "stops": {"type": "array", "items": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]}},
        "port": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
        "any": {},
        "sure": {"const": True},
    },
    "required": ["hour"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("output", "fits"),
    [
        ('{"hour": 12}', True),
        ('{"hour": 12, "model_config": "b", "stops": ["x", null], "port": {"x": 1.5}, "any": [1], "sure": true}', True),
        ('{"hour": 24}', False),
        ('{"hour": "noon"}', False),
        ('{"hour": 12, "model_config": "c"}', False),
        ('{"hour": 12, "stops": [""]}', False),
        ('{"hour": 12, "port": {"x": "y"}}', False),
        ('{"hour": 12, "sure": false}', False),
        ('{"hour": 12, "more": 1}', False),
        ("{}", False),
        ("noon", False),
    ],
)
def test_a_json_schema_says_what_fits(output: str, fits: bool) -> None:
    bench = Bench(judge=judge)
    record = Record(input="When?", output=output)
    outcome = bench.score(BY_NAME["json-correctness"], record, expected_schema=SCHEMA)
    assert outcome.passed is fits
    assert len(bench.questions) == (0 if fits else 1)


def test_a_key_that_the_schema_does_not_require_may_be_absent_and_a_further_one_is_taken_by_default() -> None:
    model = json_model({"type": "object", "properties": {"a": {"type": "string"}}})
    model.model_validate_json('{"b": 1}')
    with pytest.raises(ValidationError):
        model.model_validate_json('{"a": 1}')
