"""What a model of the server says, and the ways to tell which answer a request gets. It knows no vendor's form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tests.providers.faults import Fault
from tests.providers.minimal import minimal
from tests.providers.remembered import once_a_schema
from tests.providers.requests import Request

Finish = Literal["stop", "length", "refusal", "content_filter"]
CHARACTERS_A_TOKEN = 4


class Answer(NamedTuple):
    """What a model says to one request. Tokens that are not given are counted by `count_tokens`."""

    text: str
    finish: Finish = "stop"
    input_tokens: int | None = None
    """All tokens that went in, those from a cache among them."""
    output_tokens: int | None = None
    """All tokens that came out, those of reasoning among them."""
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    vectors: Sequence[Sequence[float]] = ()
    model: str | None = None
    """The model that the reply names; the one that was asked for unless given."""


Reply = Answer | Fault | str | dict[str, Any] | list[Any]
"""An answer; a fault for this one request; a text; or a value that is said as JSON."""
Answering = Callable[[Request], Reply]


def usual(request: Request) -> str:
    """The smallest value that the request's schema allows; without one, an echo of the last message."""
    if request.schema is not None:
        return _minimal_text(request.schema)
    return json.dumps({"echo": request.last_text}) if request.format == "json_object" else request.last_text


@once_a_schema
def _minimal_text(schema: Any) -> str:
    return json.dumps(minimal(schema))


def by_schema(request: Request) -> Reply:
    """Answer as usual: the smallest value that the schema allows, or an echo."""
    return usual(request)


def fixed(reply: Reply) -> Answering:
    """The same reply to every request."""
    return lambda request: reply


def in_order(*replies: Reply, then: Reply | None = None) -> Answering:
    """These replies, one a request as they come; afterwards `then`, or a failure of the test where none is given."""
    left = iter(replies)

    def answer(request: Request) -> Reply:
        reply = next(left, then)
        if reply is None:
            raise AssertionError(f"{len(replies)} replies were planned, and request {request.number} asks for one more")
        return reply

    return answer


def matching(replies: Mapping[str, Reply | Answering], otherwise: Reply | Answering = by_schema) -> Answering:
    """The reply of the first key that the prompt contains; `otherwise` where it contains none."""

    def answer(request: Request) -> Reply:
        prompt = request.prompt
        found = next((reply for part, reply in replies.items() if part in prompt), otherwise)
        return found(request) if callable(found) else found

    return answer


def count_tokens(text: str) -> int:
    """The tokens of a text by the server's own rule: one for each four characters begun."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def said(reply: Answer | str | dict[str, Any] | list[Any], request: Request) -> Answer:
    """The reply as a whole answer, cut where the request allows fewer tokens."""
    answer = reply if isinstance(reply, Answer) else Answer(reply if isinstance(reply, str) else json.dumps(reply))
    if answer.output_tokens is None:
        bound = request.max_tokens
        if bound is not None and count_tokens(answer.text) + answer.reasoning_tokens > bound:
            room = max(0, bound - answer.reasoning_tokens)
            answer = answer._replace(text=answer.text[: room * CHARACTERS_A_TOKEN], finish="length")
        answer = answer._replace(output_tokens=count_tokens(answer.text) + answer.reasoning_tokens)
    if answer.input_tokens is None:
        answer = answer._replace(input_tokens=max(count_tokens(request.prompt), answer.cached_tokens))
    return answer
