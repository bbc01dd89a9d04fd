"""Every metric gives, through our evaluator, the score that RAGAS alone gives for the same answers of a judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

# Before RAGAS itself, whose imports it readies.
import evalsi_ragas.scoring  # noqa: F401  # isort: skip
from adapters.ragas.tests.alone import ALONE, Row
from adapters.ragas.tests.scripted import PARAMS, RECORDS, judge, vector

from evalsi import Score
from evalsi.testing import Bench
from evalsi_ragas import EVALUATORS
from evalsi_ragas.table import ROWS

BY_NAME: dict[str, Any] = {row.name: one for row, one in zip(ROWS, EVALUATORS, strict=True)}


async def alone(name: str) -> list[Any]:
    return [await ALONE[name](Row(record)) for record in RECORDS]


def test_ragas_alone_is_asked_for_every_row_of_the_table() -> None:
    assert set(ALONE) == set(BY_NAME)


def verdict(score: Score) -> float | str | None:
    """Return what RAGAS says for a score, 1 for a pass and 0 for a fail."""
    if score.passed is not None:
        return float(score.passed)
    return score.label if score.value is None else score.value


def test_t3_metrics_that_are_1_or_0_are_declared_as_pass_or_fail() -> None:
    assert {row.name for row in ROWS if row.output.kind == "pass"} == {
        "agent-goal-accuracy",
        "agent-goal-accuracy-without-reference",
        "aspect-critic",
        "aspect-critic-of-conversation",
        "exact-match",
        "sql-semantic-equivalence",
        "string-presence",
    }


@pytest.mark.parametrize("name", ALONE)
def test_the_score_is_that_of_ragas_alone(name: str) -> None:
    expected = asyncio.run(alone(name))
    outcomes = Bench(judge=judge, embed=vector).score_all(BY_NAME[name], RECORDS, **PARAMS.get(name, {}))
    scores = [outcome.score for outcome in outcomes]
    assert [verdict(score) for score in scores] == expected


@pytest.mark.parametrize("name", ["faithfulness", "factual-correctness", "answer-correctness", "context-recall"])
def test_the_script_tells_records_apart(name: str) -> None:
    assert len(set(asyncio.run(alone(name)))) > 2


def test_what_travels_is_the_same_score() -> None:
    run = Bench(judge=judge, embed=vector).run_pack("evalsi_ragas", "answer-correctness", RECORDS)
    assert [outcome.value for outcome in run.outcomes] == asyncio.run(alone("answer-correctness"))
