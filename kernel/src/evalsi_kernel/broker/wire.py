"""Validate the bodies of `judge.ask` and `embed.ask` requests from packs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.settings import PRIMARY, ModelSettings
from evalsi_protocol.errors import WireError

ROLES = frozenset({"system", "user", "assistant"})
MAX_REQUESTS = 1024


class BadAsk(Exception):
    """A request of a pack is invalid."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.error = WireError("protocol.body", message, "Fix the pack.", "pack")


class Asker(NamedTuple):
    """The evaluator session and record that a request is booked on."""

    session: int
    record_id: str


def asker_of(body: Mapping[str, Any]) -> Asker:
    """Return who made the request; raise `BadAsk`."""
    return Asker(_typed(body, "session", int, 0), _typed(body, "record", str, ""))


def requests_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the requests of a `judge.ask`; raise `BadAsk`."""
    requests = body.get("requests")
    if not isinstance(requests, list) or not all(isinstance(request, dict) for request in requests):
        raise BadAsk("judge.ask has no list of requests.")
    if len(requests) > MAX_REQUESTS:
        raise BadAsk(f"judge.ask has {len(requests):,} requests; the maximum is {MAX_REQUESTS:,}.")
    return requests


def role_of(request: Mapping[str, Any]) -> str:
    """Return the judge role that a request names; raise `BadAsk`."""
    role: str = _typed(request, "role", str, PRIMARY)
    return role


def ask_of(request: Mapping[str, Any], model: ModelSettings) -> Ask:
    """Return a request to a model; the model's settings fill in what the pack leaves out. Raise `BadAsk`."""
    max_tokens = _typed(request, "max_tokens", int, model.max_tokens)
    if max_tokens < 1:
        raise BadAsk(f"max_tokens is {max_tokens}; it must be at least 1.")
    temperature = request.get("temperature", model.temperature)
    if temperature is not None and (type(temperature) not in (int, float) or not 0 <= temperature < 1e6):
        raise BadAsk(f"temperature is {temperature!r:.40}, which is not a number of at least 0.")
    return Ask(
        _messages(request.get("messages")),
        _typed(request, "schema", dict, None),
        min(max_tokens, model.max_tokens),
        None if temperature is None else float(temperature),
        _typed(request, "seed", int, None),
        model.effort,
        _typed(request, "sample", int, 0),
    )


def texts_of(body: Mapping[str, Any]) -> list[str]:
    """Return the texts of an `embed.ask`; raise `BadAsk`."""
    texts = body.get("texts")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadAsk("embed.ask has no list of texts.")
    return texts


def _messages(messages: Any) -> tuple[dict[str, str], ...]:
    if not isinstance(messages, list) or not messages:
        raise BadAsk("A question to a judge has no messages.")
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES or not isinstance(message.get("content"), str):
            raise BadAsk(f"A message has the role {role!r:.40}, or no text as its content.")
    return tuple({"role": message["role"], "content": message["content"]} for message in messages)


def _typed(body: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = body.get(name)
    if value is None:
        return default
    if type(value) is not kind:
        raise BadAsk(f"{name} is of type {type(value).__name__}, not {kind.__name__}.")
    return value
