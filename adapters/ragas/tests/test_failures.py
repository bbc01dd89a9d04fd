"""A judge or an embedding model that fails is an error of its record, for every metric and at every question.

The whole table is gone through; a metric that asks nobody is the same whoever fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from adapters.ragas.tests.scripted import PARAMS, judge, record, vector

from evalsi import Question
from evalsi.testing import Bench, ImpossibleReply, Outcome, failure
from evalsi_ragas import EVALUATORS
from evalsi_ragas.table import ROWS

BY_NAME: dict[str, Any] = {row.name: one for row, one in zip(ROWS, EVALUATORS, strict=True)}
JUDGED = [row.name for row in ROWS if "judge" in row.asks]
EMBEDDED = [row.name for row in ROWS if "embed" in row.asks]
# The metrics that list what they judge next, and what they find none of when the list is empty.
LISTING = {
    "faithfulness": "statements",
    "answer-correctness": "statements",
    "noise-sensitivity": "statements",
    "factual-correctness": "claims",
    "context-entity-recall": "entities",
    "summary-score": "keyphrases",
    "topic-adherence": "topics",
}
RECORD = record(1)


def scored(name: str, judged: Callable[[Question], Any], **settings: Any) -> Outcome:
    bench = Bench(judge=judged, embed=settings.pop("embed", vector))
    return bench.score(BY_NAME[name], RECORD, **(settings or PARAMS.get(name, {})))


def questions_of(name: str) -> int:
    bench = Bench(judge=judge, embed=vector)
    assert bench.score(BY_NAME[name], RECORD, **PARAMS.get(name, {})).kind == "scored"
    return len(bench.questions)


def failing_at(place: int, code: str) -> Callable[[Question], Any]:
    """The judge by script, which fails at the question of this place, from 0."""
    seen: list[Question] = []

    def judged(question: Question) -> Any:
        seen.append(question)
        return failure(code) if len(seen) == place + 1 else judge(question)

    return judged


def code_of(outcome: Outcome) -> str:
    assert outcome.kind == "error", outcome
    assert outcome.error is not None
    return outcome.error.code


@pytest.mark.parametrize("code", ["judge.unparsable", "judge.refused", "provider.failed", "capability.not_bound"])
@pytest.mark.parametrize("name", JUDGED)
def test_a_judge_that_fails_is_its_own_error_at_whatever_question(name: str, code: str) -> None:
    for place in range(questions_of(name)):
        assert code_of(scored(name, failing_at(place, code))) == code


@pytest.mark.parametrize("name", JUDGED)
def test_nobody_is_asked_again_after_a_failure(name: str) -> None:
    bench = Bench(judge=failing_at(0, "judge.refused"), embed=vector)
    bench.score(BY_NAME[name], RECORD, **PARAMS.get(name, {}))
    assert len(bench.questions) == 1


@pytest.mark.parametrize("name", sorted({row.name for row in ROWS} - {*JUDGED, *EMBEDDED}))
def test_a_metric_that_asks_nobody_is_the_same_whoever_fails(name: str) -> None:
    bench = Bench()
    assert bench.score(BY_NAME[name], RECORD).kind == "scored"
    assert bench.questions == []


@pytest.mark.parametrize("name", EMBEDDED)
def test_an_embedding_model_that_fails_is_its_own_error(name: str) -> None:
    def failing(text: str) -> list[float]:
        raise failure("provider.failed")

    assert code_of(scored(name, judge, embed=failing)) == "provider.failed"


@pytest.mark.parametrize("name", EMBEDDED)
def test_a_vector_without_a_direction_is_an_error(name: str) -> None:
    outcome = scored(name, judge, embed=lambda text: [0.0, 0.0])
    assert code_of(outcome) == "pack.evaluator_raised"
    assert "vector of zeros" in str(outcome.error)


@pytest.mark.parametrize("off", [{}, [], "yes", None, {"verdict": "maybe"}, {"statements": "none"}, {"rating": True}])
@pytest.mark.parametrize("name", JUDGED)
def test_what_is_off_the_question_never_fits_its_schema(name: str, off: Any) -> None:
    with pytest.raises(ImpossibleReply):
        scored(name, lambda question: off)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("answer-accuracy", "rating", 3),
        ("answer-accuracy", "rating", 5),
        ("context-relevance", "rating", 4),
        ("response-groundedness", "rating", -1),
        ("domain-specific-rubrics", "score", 0),
        ("domain-specific-rubrics-with-reference", "score", 6),
        ("instance-specific-rubrics", "score", 100),
        ("aspect-critic", "verdict", 7),
        ("aspect-critic-of-conversation", "verdict", -1),
        ("context-precision", "verdict", 2),
        ("context-utilization", "verdict", 5),
        ("answer-relevancy", "noncommittal", 3),
        ("answer-relevancy", "question", ""),
        ("context-recall", "classifications", []),
        ("agent-goal-accuracy", "verdict", "2"),
        ("discrete-metric", "value", "perfect"),
    ],
)
def test_a_verdict_off_its_scale_never_fits_its_schema(name: str, field: str, value: Any) -> None:
    def judged(question: Question) -> Any:
        answer = judge(question)
        return {**answer, field: value} if field in answer else answer

    with pytest.raises(ImpossibleReply):
        scored(name, judged)


@pytest.mark.parametrize("verdict", [2, -1])
@pytest.mark.parametrize("name", ["faithfulness", "factual-correctness", "noise-sensitivity"])
def test_a_verdict_on_a_statement_is_yes_or_no(name: str, verdict: int) -> None:
    def judged(question: Question) -> Any:
        answer = judge(question)
        if "verdict" in str(question.schema):
            answer["statements"][0]["verdict"] = verdict
        return answer

    with pytest.raises(ImpossibleReply):
        scored(name, judged)


@pytest.mark.parametrize(("name", "field"), LISTING.items())
def test_nothing_to_judge_is_a_skip_and_neither_perfect_nor_0(name: str, field: str) -> None:
    def judged(question: Question) -> Any:
        answer = judge(question)
        return {key: [] if isinstance(value, list) else value for key, value in answer.items()}

    outcome = scored(name, judged)
    assert outcome.kind == "skipped"
    assert outcome.reason == f"no {field}: the judge found none"


def test_a_context_without_entities_is_a_finding() -> None:
    def judged(question: Question) -> Any:
        return judge(question) if "rides free" in question.messages[0]["content"][-300:] else {"entities": []}

    assert scored("context-entity-recall", judged).value == 0.0


@pytest.mark.parametrize("name", ["faithfulness", "factual-correctness", "noise-sensitivity", "topic-adherence"])
def test_a_verdict_too_few_never_fits_the_schema_and_one_too_many_is_an_error(name: str) -> None:
    def changed(by: int) -> Callable[[Question], Any]:
        def judged(question: Question) -> Any:
            answer = judge(question)
            for field, one in answer.items():
                if field == "classifications" or "verdict" in str(one):
                    answer[field] = one[:-1] if by < 0 else [*one, one[0]]
            return answer

        return judged

    with pytest.raises(ImpossibleReply):
        scored(name, changed(-1))
    outcome = scored(name, changed(+1))
    assert code_of(outcome) == "pack.evaluator_raised"
    assert "were asked for" in str(outcome.error)


def test_an_answer_for_each_question_of_a_summary() -> None:
    def judged(question: Question) -> Any:
        answer = judge(question)
        return {"answers": [*answer["answers"], "1"]} if "answers" in answer else answer

    assert "were asked for" in str(scored("summary-score", judged).error)
    with pytest.raises(ImpossibleReply):
        scored("summary-score", lambda question: {key: ["yes"] * 9 for key in judge(question)})


def test_statements_of_which_none_is_classified_are_not_perfect() -> None:
    def judged(question: Question) -> Any:
        answer = judge(question)
        return {"TP": [], "FP": [], "FN": []} if "TP" in answer else answer

    assert "classified no statement" in str(scored("answer-correctness", judged).error)


def test_a_number_off_the_user_s_own_scale_is_an_error() -> None:
    outcome = scored("numeric-metric", lambda question: {"reason": "Because.", "value": 7.0})
    assert "off the scale" in str(outcome.error)
