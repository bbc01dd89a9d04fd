"""T2: the record of a sample, at both ends of the supported range of Inspect."""

from __future__ import annotations

import math

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelName,
    ModelOutput,
)
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolCallError

from evalsi_inspect_bridge.scorer import row_of

MODEL = "mockllm/model"
QUESTION: list[ChatMessage] = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="What is 2 + 3?")]


def state(messages: list[ChatMessage], completion: str, **metadata: object) -> TaskState:
    made: TaskState = TaskState(
        model=ModelName(MODEL),
        sample_id="sum",
        epoch=2,
        input=QUESTION,
        messages=messages,
        output=ModelOutput.from_content(MODEL, completion),
        metadata=metadata,
    )
    return made


def test_t2_an_agent_is_a_record_with_a_step_for_each_message_after_the_input() -> None:
    calls = [
        ToolCall(id="1", function="add", arguments={"x": 2, "y": 3}),
        ToolCall(id="2", function="add", arguments={"x": math.inf}),
    ]
    messages = [
        *QUESTION,
        ChatMessageAssistant(content="Let me add.", tool_calls=calls),
        ChatMessageTool(content="5", tool_call_id="1", function="add"),
        ChatMessageTool(content="", tool_call_id="2", error=ToolCallError("parsing", "no number")),
        ChatMessageUser(content="Go on."),
        ChatMessageAssistant(content="5"),
    ]
    row = row_of(state(messages, "5", docs=["a page"], level=1, weight=math.nan), Target(["5", "five"]), "docs")
    asked = [
        {"id": "1", "name": "add", "arguments": '{"x": 2, "y": 3}'},
        {"id": "2", "name": "add", "arguments": '{"x": null}'},
    ]
    called = {"role": "assistant", "content": "Let me add.", "tool_calls": asked}
    answered = {"role": "assistant", "content": "5"}
    assert row == {
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 + 3?"}],
        "output": "5",
        "reference": ["5", "five"],
        "context": ["a page"],
        "trajectory": {
            "steps": [
                {"type": "llm", "output": {"messages": [called]}},
                {"type": "tool", "name": "add", "output": "5", "input": {"x": 2, "y": 3}},
                {"type": "tool", "name": "add", "output": "", "input": {"x": None}, "error": "no number"},
                {"type": "user", "name": "user", "output": "Go on."},
                {"type": "llm", "output": {"messages": [answered]}},
            ]
        },
        "metadata": {"docs": ["a page"], "level": 1, "weight": None, "sample_id": "sum", "epoch": 2},
    }


def test_t2_one_answer_has_no_trajectory_and_an_empty_target_is_no_reference() -> None:
    row = row_of(state([*QUESTION, ChatMessageAssistant(content="5")], "5"), Target(""), "context")
    assert sorted(row) == ["input", "metadata", "output"]
