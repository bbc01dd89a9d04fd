"""E11: what the README says of DeepEval's loop detection still holds, so that it goes when the limit does."""

from __future__ import annotations

from typing import Any

from evalsi import Record
from evalsi.definition import definition_of
from evalsi.testing import Bench
from evalsi_deepeval import EVALUATORS

LOOPS = next(one for one in EVALUATORS if definition_of(one).name == "agent-loop-detection")


def found(**params: Any) -> float:
    steps = [
        {"type": "tool", "name": "poll", "input": {"job": 1}, "output": result}
        for result in ("pending 10%", "pending 50%", "pending 90%", "done")
    ]
    record = Record(input="Wait for the job.", output="It is done.", trajectory={"steps": steps})
    return Bench().score(LOOPS, record, **params).scores[0].value or 0.0


def test_e11_a_poll_that_makes_progress_counts_as_a_loop_unless_a_param_says_otherwise() -> None:
    assert found() < 1.0
    assert found(repetition_threshold=9) == 1.0
    assert found(check_tool_repetition=False) == 1.0
