"""A request as the server saw it, read alike in either vendor's form. It knows nothing of answers or faults."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

Api = Literal["openai", "anthropic"]
Format = Literal["text", "json_object", "json_schema", "tool"]


class Request:
    """One request, parsed. What is read from it is worked out once.

    Attributes:
        number: Counts the calls of a model from 1; any other request, and a row of a batch, has 0.
        method: Of HTTP.
        path: Without a query.
        headers: Read without regard to case.
        raw: The body as it came; of an upload the file.
        body: The parsed JSON; None where the body is none, or no JSON. Of an upload the fields of the form.
        custom_id: The name of a row of a batch.
        query: Of the address.
    """

    def __init__(
        self,
        number: int,
        method: str,
        path: str,
        headers: Mapping[str, str],
        raw: bytes,
        *,
        body: Any,
        custom_id: str | None = None,
        query: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.number = number
        self.method = method
        self.path = path
        self.headers = headers
        self.raw = raw
        self.body = body
        self.custom_id = custom_id
        self.query = query

    def __repr__(self) -> str:
        return f"<Request {self.number}: {self.method} {self.path} {self.body!r}>"

    @property
    def api(self) -> Api:
        """Whose form the request has."""
        return "anthropic" if self.path.startswith("/v1/messages") or "anthropic-version" in self.headers else "openai"

    @property
    def key(self) -> str | None:
        """The key that came with it, from either header."""
        scheme, _, bearer = self.headers.get("Authorization", "").partition(" ")
        return self.headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" and bearer else None)

    def field(self, name: str) -> Any:
        """One field of the body; None where it is missing or null."""
        return self.body.get(name) if isinstance(self.body, dict) else None

    @property
    def model(self) -> Any:
        """The model it asks for."""
        return self.field("model")

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages, as they came."""
        messages = self.field("messages")
        return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []

    @cached_property
    def prompt(self) -> str:
        """All text of it, the system's first, joined by lines."""
        system = content_text(self.field("system"))
        parts = [content_text(one.get("content")) for one in self.messages]
        return "\n".join([system, *parts] if system else parts)

    @property
    def last_text(self) -> str:
        """The text of the last message."""
        return content_text(self.messages[-1].get("content")) if self.messages else ""

    @property
    def max_tokens(self) -> int | None:
        """The bound on the answer's tokens, under either of its names."""
        bound = self.field("max_completion_tokens") or self.field("max_tokens")
        return bound if isinstance(bound, int) else None

    @cached_property
    def tool(self) -> dict[str, Any] | None:
        """The tool that the request forces, in Anthropic's form."""
        choice = self.field("tool_choice")
        if not isinstance(choice, dict) or choice.get("type") not in {"tool", "any"}:
            return None
        tools = [one for one in self.field("tools") or [] if isinstance(one, dict)]
        named = [one for one in tools if choice["type"] == "any" or one.get("name") == choice.get("name")]
        return named[0] if named else None

    @cached_property
    def format(self) -> Format:
        """The form that the answer is asked to have."""
        asked = self._format.get("type")
        if asked in {"json_object", "json_schema"}:
            return "json_object" if asked == "json_object" else "json_schema"
        return "tool" if self.tool else "text"

    @cached_property
    def schema(self) -> Any:
        """The JSON schema that the answer must satisfy; None where none is given."""
        if self.format == "tool" and self.tool:
            return self.tool.get("input_schema")
        if self.format != "json_schema":
            return None
        wrapped = self._format.get("json_schema")
        return wrapped.get("schema") if isinstance(wrapped, dict) else self._format.get("schema")

    @cached_property
    def _format(self) -> Mapping[str, Any]:
        config = self.field("output_config")
        asked = config.get("format") if isinstance(config, dict) else self.field("response_format")
        return asked if isinstance(asked, dict) else {}


def content_text(content: Any) -> str:
    """The text of a message's content, plain or in blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)
    )
