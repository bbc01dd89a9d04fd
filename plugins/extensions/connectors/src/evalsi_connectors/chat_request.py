"""Writes the body of a chat completion, in the way that the server is known to take.

It must not know what the server answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.by_content import once_by_content

from .dialect import Rung, Way

STREAM_OPTIONS: Final = "stream_options"


def chat_request(model: str, ask: Ask, way: Way) -> dict[str, Any]:
    """The body, as plain values; what is not set is left to the provider."""
    messages = [{"role": one["role"], "content": one["content"]} for one in ask.messages]
    body: dict[str, Any] = {"model": model, "messages": messages, way.tokens_name: ask.max_tokens}
    if ask.temperature is not None:
        body["temperature"] = ask.temperature
    if ask.seed is not None:
        body["seed"] = ask.seed
    if ask.effort is not None:
        body["reasoning_effort"] = ask.effort
    if ask.schema is not None:
        _add_form(body, ask.schema, way.rung)
    return body


def streamed(body: dict[str, Any], *, tells_usage: bool) -> dict[str, Any]:
    """The body of a call whose answer comes in pieces, the last of which tells what it took where the server can."""
    return {**body, "stream": True} | ({STREAM_OPTIONS: {"include_usage": True}} if tells_usage else {})


def encoded(body: Mapping[str, Any]) -> bytes:
    """The body of a call as JSON; what is the same for most questions of an evaluator is written once."""
    said = [f'{{"role": "{one["role"]}", "content": {_quoted(one)}}}' for one in body["messages"]]
    settings = _known_json({name: value for name, value in body.items() if name != "messages"})
    return f'{settings[:-1]}, "messages": [{", ".join(said)}]}}'.encode()


def _quoted(message: Mapping[str, str]) -> str:
    content = message["content"]
    return _known_json(content) if message["role"] == "system" else json.dumps(content)


@once_by_content
def _known_json(value: Any) -> str:
    return json.dumps(value)


def _add_form(body: dict[str, Any], schema: Mapping[str, Any], rung: Rung) -> None:
    if rung <= Rung.LOOSE:
        wanted: dict[str, Any] = {"name": "reply", "schema": schema}
        if rung is Rung.STRICT:
            wanted["strict"] = True
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return
    body["messages"] = with_schema(body["messages"], schema)
    if rung is Rung.OBJECT:
        body["response_format"] = {"type": "json_object"}


def with_schema(messages: Sequence[dict[str, str]], schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema stated in a system message.

    It stands at the front, behind what the system message says already if there is one: many models' templates take one
    system message, and only there.
    """
    text = (
        "Answer with one JSON value and nothing else: no words around it, no code fence. "
        f"It must follow this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n\n{text}"}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]
