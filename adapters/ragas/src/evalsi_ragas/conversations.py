"""Convert a record's conversation to turns of the user, the agent and its tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from evalsi import Content, Record

Speaker = Literal["human", "ai", "tool"]
_SPEAKERS: dict[str, Speaker] = {
    "user": "human",
    "assistant": "ai",
    "model": "ai",
    "ai": "ai",
    "tool": "tool",
    "function": "tool",
}


class Call(NamedTuple):
    """A tool call."""

    name: str
    args: dict[str, Any]


class Turn(NamedTuple):
    """A message of one speaker, with the tool calls it makes."""

    speaker: Speaker
    text: str
    calls: tuple[Call, ...] = ()


def conversation(record: Record) -> list[Turn]:
    """Return the messages of the input, the tool calls of the trajectory, and the messages of the output.

    The trajectory is read only if no message calls a tool. System messages are left out because RAGAS has none.

    Raises:
        evalsi.Skip: the record has no output.
        ValueError: a call has no name, or its arguments are not an object.
    """
    said = list(_turns(record.output, "assistant"))
    asked = list(_turns(record.input, "user")) if record.has("input") else []
    if any(turn.calls for turn in [*asked, *said]) or not record.has("trajectory"):
        return [*asked, *said]
    return [*asked, *_used(record.trajectory), *said]


def calls_of(listed: list[Any]) -> list[Call]:
    """Return the tool calls that a record expects.

    Args:
        listed: objects with `name` and `args`, or calls in the form of a chat message.

    Raises:
        ValueError: an item is not a tool call.
    """
    return [_call(one) for one in listed]


def _turns(content: Content, role: str) -> Iterator[Turn]:
    """Yield the turns of a field. Content that is not a list of messages is a single message of `role`."""
    wire = content.wire
    is_listed = isinstance(wire, dict) and "messages" in wire
    messages: list[dict[str, Any]]
    messages = content.messages() if is_listed else [{"role": role, "content": content.as_text()}]
    for message in messages:
        named = message.get("role")
        if named in ("system", "developer"):
            continue
        if named not in _SPEAKERS:
            raise ValueError(f"a message has the role {named!r:.80}; write user, assistant, tool or system")
        text = Content({"messages": [message]}).as_text()
        calls = tuple(calls_of(message.get("tool_calls") or []))
        speaker = _SPEAKERS[named]
        yield Turn(speaker, text, calls if speaker == "ai" else ())


def _used(steps: list[dict[str, Any]]) -> Iterator[Turn]:
    """Yield the call and the answer of each tool step of a trajectory."""
    for step in steps:
        if step.get("type") == "tool":
            yield Turn("ai", "", (_call({"name": step.get("name"), "args": step.get("input")}),))
            output = step.get("output")
            yield Turn("tool", output if isinstance(output, str) else json.dumps(output, ensure_ascii=False))


def _call(written: Any) -> Call:
    body = written.get("function", written) if isinstance(written, Mapping) else None
    if not isinstance(body, Mapping):
        raise ValueError(f"a tool call is {written!r:.80}; write {{'name': …, 'args': {{…}}}}")
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"a tool call has no name: {written!r:.80}")
    args = body.get("args", body.get("arguments"))
    if isinstance(args, str):
        args = _read(name, args)
    if args is None:
        args = {}
    if not isinstance(args, Mapping):
        raise ValueError(f"the call of {name} has the arguments {args!r:.80}; write an object")
    return Call(name, dict(args))


def _read(name: str, written: str) -> Any:
    """Parse the arguments of a call in a chat message: JSON text, where blank text means no arguments."""
    if not written.strip():
        return {}
    try:
        return json.loads(written)
    except ValueError as error:
        raise ValueError(f"the call of {name} has arguments that are no JSON: {written!r:.80}") from error
