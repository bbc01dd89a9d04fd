"""Writes the body of a call to Anthropic's messages, in the way that the model is known to take.

It must not know what the model answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from anthropic import transform_schema

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import NO_OPTIONS

from .chat_request import with_schema
from .dialect import Rung

TOOL: Final = "reply"
# The last version of the API that knows temperature; the SDK's own refuses it, for every model.
_VERSION_WITH_TEMPERATURE: Final = {"anthropic-version": "2023-06-01"}


def messages_request(model: str, ask: Ask, rung: Rung, options: Mapping[str, Any] = NO_OPTIONS) -> dict[str, Any]:
    """The body, as plain values; what is not set is left to the provider.

    Args:
        model: that is asked.
        ask: what is asked.
        rung: how a structure is asked for.
        options: `thinking`, with its `mode` and perhaps `budget_tokens`; `stream`, for an answer in pieces.
    """
    messages = [{"role": one["role"], "content": one["content"]} for one in ask.messages]
    if ask.schema is not None and rung is Rung.TEXT:
        messages = with_schema(messages, ask.schema)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": ask.max_tokens,
        "messages": [one for one in messages if one["role"] != "system"],
    }
    if system := _system(messages):
        body["system"] = system
    if ask.temperature is not None:
        body["temperature"] = ask.temperature
    config: dict[str, Any] = {"effort": ask.effort} if ask.effort is not None else {}
    if ask.schema is not None and rung is Rung.STRICT:
        config["format"] = {"type": "json_schema", "schema": _as_taken(ask.schema)}
    if config:
        body["output_config"] = config
    if ask.schema is not None and rung is Rung.OBJECT:
        body["tools"] = [{"name": TOOL, "description": "Gives the answer.", "input_schema": dict(ask.schema)}]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    if (thinking := options.get("thinking")) is not None:
        budget = thinking.get("budget_tokens")
        body["thinking"] = {"type": thinking["mode"]} | ({} if budget is None else {"budget_tokens": budget})
    if options.get("stream"):
        body["stream"] = True
    return body


def sdk_arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by which the SDK sends a body; it knows no temperature, so that goes around it."""
    if "temperature" not in body:
        return dict(body)
    known = {name: value for name, value in body.items() if name != "temperature"}
    return {**known, "extra_body": {"temperature": body["temperature"]}, **version_for([body])}


def version_for(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The argument by which the SDK asks for a version of the API that takes all of these bodies."""
    with_temperature = any("temperature" in body for body in bodies)
    return {"extra_headers": _VERSION_WITH_TEMPERATURE} if with_temperature else {}


def takes(schema: Mapping[str, Any]) -> bool:
    """Whether a schema can be written in the form that the API constrains a reply by."""
    try:
        _as_taken(schema)
    except (ValueError, TypeError, AssertionError, AttributeError):
        # What the SDK raises for a schema that has no such form, such as one with a list of types.
        return False
    return True


def _as_taken(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema within the API's limits: what it cannot hold a reply to stands in descriptions instead."""
    # The SDK changes what it is given in places, so it gets a copy of its own.
    return transform_schema(json.loads(json.dumps(schema)))


def _system(messages: Sequence[Mapping[str, str]]) -> str:
    return "\n\n".join(one["content"] for one in messages if one["role"] == "system")
