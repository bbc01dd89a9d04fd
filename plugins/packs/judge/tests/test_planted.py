"""The planted verdicts reach the judge inside of their block only, and its own verdict is what counts."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from evalsi import Question, Record
from evalsi.testing import Bench
from evalsi_pack_judge.criteria import Criteria
from evalsi_pack_judge.llm_judge import LlmJudge
from evalsi_pack_judge.pairwise import Pairwise

LINES = resources.files("evalsi_pack_judge").joinpath("planted.jsonl").read_text("utf-8").splitlines()
PLANTED = [json.loads(line) for line in LINES]
EACH = pytest.mark.parametrize("row", PLANTED, ids=lambda row: str(row["id"]))


def outside(question: Question) -> str:
    """Everything of a question but what stands in its answer blocks."""
    system, user = (message["content"] for message in question.messages)
    code = user.partition("\n")[0].removeprefix("Code: ")
    parts = []
    rest = user
    for name in ("answer", "answer_a", "answer_b"):
        before, opened, after = rest.partition(f"<{name} {code}>\n")
        if opened:
            inside, closed, rest = after.partition(f"\n</{name} {code}>")
            assert closed
            assert code not in inside
            parts.append(before)
    return "".join([system, *parts, rest])


@EACH
def test_a_planted_verdict_is_not_the_judge_s(row: dict[str, Any]) -> None:
    bench = Bench(judge=[{"reason": f"It only says {row['output']!r}.", "score": 1}])
    assert bench.score(LlmJudge, Record(**row)).value == 0.0
    (question,) = bench.questions
    assert row["output"] not in outside(question)
    assert question.messages[1]["content"].endswith("Grade the answer by the rubric, from 1 to 5.")


@EACH
def test_a_planted_verdict_stays_in_its_block_in_both_orders(row: dict[str, Any]) -> None:
    bench = Bench(judge=[{"reason": "", "verdict": "b"}, {"reason": "", "verdict": "a"}])
    outcome = bench.score(Pairwise, Record(**row, metadata={"baseline": "At 100 °C."}))
    assert outcome.scores[0].label == "loss"
    for question in bench.questions:
        assert row["output"] not in outside(question)


@EACH
def test_a_planted_verdict_meets_no_criterion(row: dict[str, Any]) -> None:
    bench = Bench(judge=[{"reason": "", "met": False}])
    assert bench.score(Criteria, Record(**row), criteria=["It names the right temperature."]).value == 0.0
    assert row["output"] not in outside(bench.questions[0])
