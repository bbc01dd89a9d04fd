"""A plain HTTP client on the standard library, for the server's own tests. It hides nothing that went wrong."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from tests.providers.rules import EMBEDDER, KEY, MODEL
from tests.providers.server import Provider

BOUND_S: Final = 60.0
VERSION: Final = {"anthropic-version": "2023-06-01"}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"score": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["score", "reason"],
    "additionalProperties": False,
}


class Got(NamedTuple):
    """A whole response."""

    status: int
    headers: http.client.HTTPMessage
    raw: bytes

    @property
    def body(self) -> Any:
        """The parsed JSON."""
        return json.loads(self.raw)


def send(
    base_url: str,
    path: str,
    body: Any = None,
    *,
    headers: Mapping[str, str | None] | None = None,
    timeout_s: float = BOUND_S,
) -> Got:
    """One request on a connection of its own: POST where there is a body, else GET; a header of None is left out.

    Raises:
        OSError: The connection failed.
        http.client.HTTPException: What came was no whole response.
    """
    url = urlsplit(base_url)
    raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    sent = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **(headers or {})}
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=timeout_s)
    try:
        connection.request(
            "GET" if raw is None else "POST",
            path,
            raw,
            {name: value for name, value in sent.items() if value is not None},
        )
        response = connection.getresponse()
        return Got(response.status, response.headers, response.read())
    finally:
        connection.close()


def chat_body(prompt: str = "hello", **fields: Any) -> dict[str, Any]:
    """A request of a completion."""
    return {"model": MODEL, "messages": [{"role": "user", "content": prompt}], **fields}


def message_body(prompt: str = "hello", **fields: Any) -> dict[str, Any]:
    """A request of a message."""
    return {"model": MODEL, "max_tokens": 4096, "messages": [{"role": "user", "content": prompt}], **fields}


def chat(provider: Provider, prompt: str = "hello", *, timeout_s: float = BOUND_S, **fields: Any) -> Got:
    """Ask for a completion in OpenAI's form."""
    return send(provider.root_url, "/v1/chat/completions", chat_body(prompt, **fields), timeout_s=timeout_s)


def message(provider: Provider, prompt: str = "hello", *, timeout_s: float = BOUND_S, **fields: Any) -> Got:
    """Ask for a message in Anthropic's form."""
    body = message_body(prompt, **fields)
    return send(provider.root_url, "/v1/messages", body, headers=VERSION, timeout_s=timeout_s)


def embed(provider: Provider, texts: Any, **fields: Any) -> Got:
    """Ask for embeddings."""
    return send(provider.root_url, "/v1/embeddings", {"model": EMBEDDER, "input": texts, **fields})


def json_schema(schema: Any, *, strict: bool = True) -> dict[str, Any]:
    """OpenAI's response_format for a schema."""
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": strict, "schema": schema}}


def text_of(got: Got) -> str:
    """The answer's text, in either form."""
    assert got.status == 200, got.raw
    if "choices" in got.body:
        text: str = got.body["choices"][0]["message"]["content"]
    else:
        text = "".join(block["text"] for block in got.body["content"] if block["type"] == "text")
    return text
