"""A judge that fails, refuses or answers off its form makes an error of the record, in every metric.

Whichever question it is that fails. Nothing here is ever a 1 or a 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from adapters.deepeval.tests.material import PARAMS, RECORD, TALK
from adapters.deepeval.tests.scripted import ITEMS, judge

from evalsi import Context, Question, Record
from evalsi.definition import definition_of
from evalsi.opened import open_evaluator
from evalsi.reply_check import misfit
from evalsi.testing import Bench, failure
from evalsi_deepeval import EVALUATORS
from evalsi_deepeval.conversation_metrics import METRICS
from evalsi_deepeval.judge_model import UnusableReply
from evalsi_deepeval.metrics import Metric

JUDGED = [pair for pair in zip(METRICS, EVALUATORS, strict=True) if pair[0].asks]
EACH = pytest.mark.parametrize(("metric", "evaluator"), JUDGED, ids=[metric.name for metric, _ in JUDGED])


def record_for(metric: Metric) -> Record:
    return TALK if metric.shape == "conversation" else RECORD


def asked(metric: Metric, evaluator: Any) -> list[Question]:
    """What a judge that answers is asked."""
    bench = Bench(judge=judge)
    assert bench.score(evaluator, record_for(metric), **PARAMS.get(metric.name, {})).kind == "scored"
    return bench.questions


@EACH
@pytest.mark.parametrize("code", ["judge.refused", "judge.unparsable", "provider.timeout", "capability.not_bound"])
def test_a_failure_at_any_question_is_the_outcome(metric: Metric, evaluator: Any, code: str) -> None:
    for failing in range(len(asked(metric, evaluator))):
        outcome = Bench(judge=_failing_at(failing, code)).score(
            evaluator, record_for(metric), **PARAMS.get(metric.name, {})
        )
        assert outcome.kind == "error", f"question {failing}"
        assert outcome.error is not None
        assert outcome.error.code == code, f"question {failing}"


@EACH
def test_a_failure_that_reads_like_a_prompt_too_long_stays_itself(metric: Metric, evaluator: Any) -> None:
    said = failure("provider.bad_request", "This model's maximum context length is 8192 tokens.")
    outcome = Bench(judge=lambda _: said).score(evaluator, record_for(metric), **PARAMS.get(metric.name, {}))
    assert outcome.error is not None
    assert (outcome.error.code, str(outcome.error)) == (said.error.code, str(said.error))


@EACH
def test_after_a_failure_nothing_more_is_asked_than_was_on_its_way(metric: Metric, evaluator: Any) -> None:
    bench = Bench(judge=lambda _: failure("judge.refused"))
    bench.score(evaluator, record_for(metric), **PARAMS.get(metric.name, {}))
    # At once are asked the claims and the facts of two texts, a verdict on each chunk, each exchange of a conversation.
    assert 1 <= len(bench.questions) <= ITEMS


@EACH
def test_an_empty_answer_an_unknown_word_and_a_grade_out_of_range_fit_no_question(
    metric: Metric, evaluator: Any
) -> None:
    for question in asked(metric, evaluator):
        if question.schema is not None:
            assert misfit(question.schema, {})
            value = judge(question)
            for strange in _strange(value, dict(question.schema)):
                assert misfit(question.schema, strange), strange


def _failing_at(number: int, code: str) -> Callable[[Question], Any]:
    """A judge that answers so many questions, and none after."""
    left = iter(range(number))
    return lambda question: failure(code) if next(left, None) is None else judge(question)


class _Careless:
    """A kernel that hands on whatever the judge says."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        future.set_result({"replies": [{"value": self._value, "text": str(self._value)} for _ in body["requests"]]})
        return future


@EACH
@pytest.mark.parametrize("value", [{}, None, "yes", {"verdicts": [{"verdict": "maybe"}]}], ids=str)
def test_an_answer_of_another_form_is_an_error_even_if_it_were_handed_on(
    metric: Metric, evaluator: Any, value: Any
) -> None:
    definition = definition_of(evaluator)
    opened = open_evaluator(definition, PARAMS.get(metric.name, {}), Context(_Careless(value)))
    if value == {} and metric.name == "knowledge-retention":
        pytest.skip("the kernel alone keeps it from taking {} for no knowledge, as DeepEval's own class does")

    async def score() -> Any:
        return await opened.score(record_for(metric))

    with pytest.raises(UnusableReply):
        asyncio.run(score())


def _strange(value: Any, schema: dict[str, Any]) -> list[Any]:
    """The answer with an unknown word, a grade out of range or an empty list, in each place that there is."""
    if "enum" in schema:
        return ["maybe so"]
    if schema.get("type") == "number":
        return [schema["maximum"] + 1, schema["minimum"] - 1]
    if schema.get("type") == "array":
        return [[one, *value[1:]] for one in _strange(value[0], schema["items"])] + [[]] * ("minItems" in schema)
    if schema.get("type") == "object":
        parts = schema.get("properties", {})
        return [{**value, key: one} for key, part in parts.items() for one in _strange(value[key], part)]
    return []
