"""Convert Inspect's chat messages to messages of a record and steps of its trajectory.

Only texts are kept: no images, audio or reasoning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage

from evalsi_inspect.plain_json import plain


def message_of(message: ChatMessage) -> dict[str, Any]:
    """Return a message of a record: role, content and tool calls."""
    row: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "assistant" and message.tool_calls:
        row["tool_calls"] = [
            {"id": call.id, "name": call.function, "arguments": json.dumps(plain(call.arguments))}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        row |= {
            name: value
            for name, value in (("tool_call_id", message.tool_call_id), ("name", message.function))
            if value is not None
        }
    return row


def steps_of(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return a step for each message after the input. A tool's step has the arguments of its call."""
    start = next((index for index, message in enumerate(messages) if message.role == "assistant"), len(messages))
    calls = {call.id: call for message in messages if message.role == "assistant" for call in message.tool_calls or ()}
    return [_step(message, calls) for message in messages[start:]]


def _step(message: ChatMessage, calls: dict[str, Any]) -> dict[str, Any]:
    if message.role == "assistant":
        return {"type": "llm", "output": {"messages": [message_of(message)]}}
    if message.role != "tool":
        return {"type": "user" if message.role == "user" else "generic", "name": message.role, "output": message.text}
    call = calls.get(message.tool_call_id or "")
    step = {"type": "tool", "name": message.function or (call.function if call else "tool"), "output": message.text}
    if call is not None:
        step["input"] = plain(call.arguments)
    if message.error is not None:
        step["error"] = message.error.message
    return step
