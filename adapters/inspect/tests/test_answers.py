"""E1 and E2: scorers read the last assistant message, and no grader is asked about an image that it cannot see."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.inspect.tests.cases import evaluator

from evalsi import Record
from evalsi.testing import Bench

IMAGE = {"type": "image_url", "image_url": {"url": "https://host.example/1.png"}}
TURNS = [
    {"role": "assistant", "content": "12"},
    {"role": "tool", "content": "stock: 12", "tool_call_id": "1", "name": "stock"},
    {"role": "model", "content": "I could not find out."},
]


def test_e1_the_last_assistant_message_is_scored() -> None:
    includes = evaluator("includes")
    assert Bench().score(includes, Record(input="How many?", output=TURNS, reference="12")).passed is False
    assert Bench().score(includes, Record(input="How many?", output=TURNS, reference="not find")).passed is True
    outcome = Bench().score(includes, Record(input="How many?", output=TURNS[1:2], reference="12"))
    assert outcome.kind == "skipped"


@pytest.mark.parametrize("name", ["model-graded-qa", "model-graded-fact"])
@pytest.mark.parametrize("field", ["input", "output", "reference"])
def test_e2_a_record_with_an_image_is_skipped_and_no_grader_is_asked(name: str, field: str) -> None:
    role = "user" if field == "input" else "assistant"
    shown: list[dict[str, Any]] = [{"role": role, "content": [{"type": "text", "text": "A ferry?"}, IMAGE]}]
    fields: dict[str, Any] = {"input": "What is this?", "output": "A ferry.", "reference": "A ferry.", field: shown}
    bench = Bench(judge=[])
    assert (
        bench.score(evaluator(name), Record(**fields)).reason
        == f"the {field} holds an image, which judges are not shown"
    )
    assert bench.questions == []
