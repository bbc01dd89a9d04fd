"""Convert a record to a task state and a target for Inspect's scorers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
from inspect_ai.tool import ToolCall

from evalsi import Content, Record
from evalsi.content import ANSWERING_ROLES

MODEL = "evalsi/record"


def target_of(record: Record) -> Target:
    """Return the references as a target; any of them is correct."""
    return Target(record.reference_texts)


def task_state(record: Record) -> TaskState:
    """Return the state of a sample after its solver.

    For a conversation the last assistant message is graded; all messages are part of the history.

    Raises:
        Skip: the output is a conversation without an assistant message.
        ValueError: `metadata.choices` is not a list of texts.
    """
    asked = _messages(record.input) if record.has("input") else [ChatMessageUser(content="")]
    answered = _messages(record.output, of_output=True)
    output = ModelOutput.from_content(MODEL, record.output_text)
    is_text = not record.has("input") or not _is_conversation(record.input)
    return TaskState(
        model=ModelName(MODEL),
        sample_id=record.id or "record",
        epoch=1,
        input=(record.input.as_text() if record.has("input") else "") if is_text else asked,
        messages=[*asked, *answered],
        target=target_of(record),
        choices=_choices(record),
        output=output,
        completed=True,
        metadata=dict(record.metadata),
    )


def _choices(record: Record) -> list[str] | None:
    choices = record.metadata.get("choices")
    if choices is None:
        return None
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        raise ValueError(f"metadata.choices is {choices!r}, which is no list of texts; write each choice as a text")
    return choices


def _is_conversation(content: Content) -> bool:
    return isinstance(content.wire, dict) and "messages" in content.wire


def _messages(content: Content, *, of_output: bool = False) -> list[ChatMessage]:
    if _is_conversation(content):
        return [_message(message) for message in content.messages()]
    text = content.as_text()
    return [ChatMessageAssistant(content=text) if of_output else ChatMessageUser(content=text)]


def _message(message: Mapping[str, Any]) -> ChatMessage:
    text = Content({"messages": [dict(message)]}).as_text()
    role = str(message.get("role")).casefold()
    match "assistant" if role in ANSWERING_ROLES else role:
        case "system" | "developer":
            return ChatMessageSystem(content=text)
        case "assistant":
            return ChatMessageAssistant(content=text, tool_calls=_tool_calls(message) or None)
        case "tool":
            return ChatMessageTool(content=text, tool_call_id=message.get("tool_call_id"), function=message.get("name"))
        case _:
            return ChatMessageUser(content=text)


def _tool_calls(message: Mapping[str, Any]) -> list[ToolCall]:
    """Return the tool calls of a message; name and arguments may be in the call itself or in its `function`."""
    calls = []
    for number, call in enumerate(message.get("tool_calls") or ()):
        named = call.get("function") if isinstance(call.get("function"), dict) else call
        arguments = named.get("arguments")
        calls.append(
            ToolCall(
                id=str(call.get("id") or number),
                function=str(named.get("name") or "tool"),
                arguments=arguments if isinstance(arguments, dict) else _parsed(arguments),
            )
        )
    return calls


def _parsed(arguments: Any) -> dict[str, Any]:
    """Parse arguments written as JSON text; any other text becomes the argument `arguments`."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = arguments
    return value if isinstance(value, dict) else {} if value is None else {"arguments": value}
