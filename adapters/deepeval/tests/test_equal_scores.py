"""Every metric gives through the adapter what DeepEval gives alone, with the same judge."""

from __future__ import annotations

import asyncio
from typing import Any

import deepeval.metrics
import pytest
from adapters.deepeval.tests.material import PARAMS, RECORD, TALK, arguments_for, case_for
from adapters.deepeval.tests.scripted import ScriptedModel, judge

from evalsi import Score
from evalsi.definition import definition_of
from evalsi.testing import Bench
from evalsi_deepeval import EVALUATORS
from evalsi_deepeval.conversation_metrics import METRICS
from evalsi_deepeval.metrics import Metric

EACH = pytest.mark.parametrize(
    ("metric", "evaluator"), list(zip(METRICS, EVALUATORS, strict=True)), ids=[metric.name for metric in METRICS]
)


def alone(metric: Metric, **more: Any) -> tuple[Any, ScriptedModel]:
    """The metric as DeepEval measures it, and the model that it asked."""
    model = ScriptedModel()
    made = getattr(deepeval.metrics, metric.framework_class)(**arguments_for(metric.name, model), **more)
    asyncio.run(made.a_measure(case_for(metric.name, metric.shape), _show_indicator=False))
    return made, model


def number_of(score: Score) -> float | None:
    """Return DeepEval's number for a score, 1 for a pass and 0 for a fail."""
    return score.value if score.passed is None else float(score.passed)


@EACH
def test_t3_a_metric_that_is_1_or_0_is_declared_as_pass_or_fail(metric: Metric, evaluator: Any) -> None:
    yes_no = {"exact-match", "pattern-match", "json-correctness", "role-violation"}
    assert metric.yes_no is (metric.name in yes_no)
    main = definition_of(evaluator).outputs[0]
    assert (main.kind == "pass") is (metric.name in yes_no)


@EACH
def test_the_score_and_every_prompt_are_deepeval_s_own(metric: Metric, evaluator: Any) -> None:
    bench = Bench(judge=judge)
    outcome = bench.score(evaluator, TALK if metric.shape == "conversation" else RECORD, **PARAMS.get(metric.name, {}))
    made, model = alone(metric)
    if metric.shape == "arena":
        assert (outcome.label, made.winner) == ("win", "output")
        assert len(bench.questions) == len(model.prompts)
        return
    assert number_of(outcome.score) == made.score
    assert outcome.score.explanation == made.reason
    assert sorted(question.messages[0]["content"] for question in bench.questions) == sorted(model.prompts)
    assert bool(bench.questions) is metric.asks


@EACH
def test_strict_mode_and_a_threshold_are_deepeval_s_own(metric: Metric, evaluator: Any) -> None:
    names = {setting.name for setting in metric.params}
    if "strict_mode" not in names or "g-eval" in metric.name:
        # A grade on 0 to 1, as strict mode asks for, is another answer than one on 0 to 10.
        pytest.skip("has no strict mode, or asks another question in it")
    record = TALK if metric.shape == "conversation" else RECORD
    outcome = Bench(judge=judge).score(evaluator, record, strict_mode=True, **PARAMS.get(metric.name, {}))
    made, _ = alone(metric, strict_mode=True)
    assert number_of(outcome.scores[0]) == made.score
    # Its measuring forgets to set it.
    expected = made.score >= made.threshold if metric.name == "tool-use" else made.success
    assert outcome[f"{metric.name}-passed"].passed is expected
