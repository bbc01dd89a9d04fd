"""A record as a conversation: the turns of its input and output, with the tools that were called and their context.

What the tools answered belongs to the turn that called them.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from evalsi import Content, Record, Skip
from evalsi_deepeval.tool_calls import Call, message_calls, text_of


class Said(NamedTuple):
    """One turn.

    Args:
        role: whose it is.
        text: what was said.
        calls: the tools that were called in it, or right before it.
        context: what it may rest on; None where the record does not say.
    """

    role: Literal["user", "assistant"]
    text: str
    calls: list[Call]
    context: list[str] | None = None


def turns_of(record: Record) -> list[Said]:
    """The turns of the input and then of the output; of an output that repeats the input's messages, its own alone.

    A turn's context is its message's own `context`; a turn of the output without one has the record's.

    Raises:
        Skip: no turn of the assistant follows one of the user.
        ContentError: the input or the output is JSON.
    """
    before = _messages(record.input, "user") if record.has("input") else []
    graded = _messages(record.output, "assistant")
    if before and graded[: len(before)] == before:
        before = []
    context = [part.as_text() for part in record.context] if record.has("context") else None
    said = _turns(before, None) + _turns(graded, context)
    roles = [turn.role for turn in said]
    if "user" not in roles or "assistant" not in roles[roles.index("user") :]:
        raise Skip("record has no conversation: no turn of the assistant follows one of the user")
    return said


def _messages(content: Content, role: str) -> list[dict[str, Any]]:
    return [{"role": role, "content": content.wire}] if content.is_text else content.messages()


def _turns(messages: list[dict[str, Any]], context: list[str] | None) -> list[Said]:
    results = {
        str(message["tool_call_id"]): text_of(message)
        for message in messages
        if message["role"] == "tool" and "tool_call_id" in message
    }
    turns: list[Said] = []
    waiting: list[Call] = []
    for message in messages:
        role = message["role"]
        if role not in ("user", "assistant"):
            continue
        waiting += message_calls(message, results)
        text = text_of(message)
        # A message that only calls tools is the beginning of the turn that follows it.
        if text or role == "user":
            turns.append(Said(role, text, waiting, _context(message, context)))
            waiting = []
    if waiting:
        turns.append(Said("assistant", "", waiting, context))
    return turns


def _context(message: dict[str, Any], otherwise: list[str] | None) -> list[str] | None:
    own = message.get("context", message.get("retrieval_context"))
    if own is None:
        return otherwise if message["role"] == "assistant" else None
    return [part if isinstance(part, str) else Content({"json": part}).as_text() for part in _listed(own)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
