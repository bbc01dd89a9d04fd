"""E12: a step that calls a tool is read under whichever common keys it was recorded, or refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi import Record
from evalsi_kernel.records.contents import BadField, trajectory
from evalsi_protocol.steps import read_steps

CALL = {"type": "tool", "name": "search", "input": {"q": "x"}, "output": "found"}


@pytest.mark.parametrize(
    "step",
    [
        CALL,
        {"type": "tool", "name": "search", "arguments": {"q": "x"}, "output": "found"},
        {"type": "tool", "name": "search", "args": {"q": "x"}, "result": "found"},
        {"type": "tool", "name": "search", "arguments": '{"q": "x"}', "output": "found"},
        {"type": "tool", "tool_name": "search", "tool_input": {"q": "x"}, "tool_output": "found"},
        {"type": "tool", "toolName": "search", "toolArgs": {"q": "x"}, "toolResult": "found"},
        {"type": "tool", "tool": "search", "parameters": {"q": "x"}, "response": "found"},
        {"type": "tool", "name": "search", "input": None, "args": {"q": "x"}, "output": None, "result": "found"},
        {"type": "tool_call", "name": "search", "args": {"q": "x"}, "output": "found"},
        {"type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}, "output": "found"},
        {"kind": "tool", "name": "search", "args": {"q": "x"}, "result": "found"},
        {"action": "search", "tool_input": {"q": "x"}, "observation": "found"},
        {"name": "search", "arguments": {"q": "x"}, "result": "found"},
        {"type": "tool", "name": "search", "input": {"q": "x"}, "arguments": {"q": "x"}, "output": "found"},
    ],
    ids=str,
)
def test_e12_a_call_is_read_whatever_its_keys_are_called(step: dict[str, Any]) -> None:
    [read] = trajectory([step])["steps"]
    assert {key: read[key] for key in CALL} == CALL
    # What was written is still there for evaluators that know it.
    assert {key: read[key] for key in step if key != "type" and step[key] is not None} == {
        key: value for key, value in step.items() if key != "type" and value is not None
    }
    assert Record(trajectory=[step]).trajectory == [read]


@pytest.mark.parametrize(
    "step",
    [
        {"type": "llm", "name": "gpt", "input": "x", "output": "y", "arguments": {"a": 1}},
        {"type": "retrieval", "name": "docs", "result": ["a"]},
        {"type": "tool", "name": "now"},
        {"note": "x", "result": 1},
        {"tool": True},
        {},
    ],
    ids=str,
)
def test_e12_other_steps_stay_as_they_are(step: dict[str, Any]) -> None:
    assert read_steps([step]) == [step]


def test_e12_an_input_and_other_arguments_are_refused_by_their_names() -> None:
    steps = [CALL, {"type": "tool", "name": "search", "input": {"q": "x"}, "arguments": {"q": "y"}}]
    with pytest.raises(BadField, match="step 2 of the trajectory has input and arguments"):
        trajectory(steps)
    with pytest.raises(ValueError, match="input and arguments"):
        Record(trajectory=steps)
