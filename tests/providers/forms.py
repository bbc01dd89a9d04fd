"""Which API's form a request is answered in. The forms themselves stand in a file for each API."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final, Protocol

from tests.providers import anthropic_api, embeddings_api, openai_api
from tests.providers.answers import Answer
from tests.providers.faults import Change, Status
from tests.providers.requests import Request
from tests.providers.rules import Rules


class Form(Protocol):
    """What a file of an API offers."""

    @property
    def REQUEST_ID(self) -> str:
        """The header that names the request."""

    def error(self, status: Status, request_id: str | None = None) -> dict[str, Any]:
        """The body of an error."""

    def key_objection(self, request: Request, rules: Rules) -> Status | None:
        """What is wrong with the key."""

    def objection(self, request: Request, rules: Rules) -> Status | None:
        """What is wrong with the body, which is an object."""

    def format_objection(self, request: Request, formats: Set[str]) -> Status | None:
        """What is wrong with the format that is asked for."""

    def reply(self, request: Request, answer: Answer, change: Change | None = None) -> dict[str, Any]:
        """The body of a good answer, or of one without a part of it."""

    def in_pieces(self, request: Request, body: dict[str, Any]) -> bytes:
        """The body as it is streamed."""


CALLS: Final[Mapping[str, Form]] = {
    "/v1/chat/completions": openai_api,
    "/v1/messages": anthropic_api,
    embeddings_api.PATH: embeddings_api,
}
"""The paths by which a model is called."""


def form_of(request: Request) -> Form:
    """The form of a request, a model's call or not."""
    return CALLS.get(request.path) or (anthropic_api if request.api == "anthropic" else openai_api)
