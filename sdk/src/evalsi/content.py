"""What a record's field holds: text, chat messages, or JSON.

It reads the wire form and never changes it; it must not know a record or an evaluator.
"""

from __future__ import annotations

import json
from typing import Any


class ContentError(ValueError):
    """The content is not what was asked for, such as text that is not JSON."""


class Content:
    """One piece of content, read as text, as JSON or as messages."""

    __slots__ = ("wire",)

    def __init__(self, wire: Any) -> None:
        self.wire = wire

    @property
    def is_text(self) -> bool:
        """Whether this is plain text, not messages and not JSON."""
        return type(self.wire) is str

    def as_text(self) -> str:
        """Plain text as it is; of messages their texts, a line each; of JSON the compact form with sorted keys."""
        wire = self.wire
        return wire if type(wire) is str else _text_of(wire)

    def as_json(self) -> Any:
        """The JSON value; text is parsed strictly (no NaN, no Infinity).

        Raises:
            ContentError: the text is not JSON; the message says where it stops being it.
        """
        wire = self.wire
        if isinstance(wire, dict) and "json" in wire:
            return wire["json"]
        try:
            return json.loads(self.as_text(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ContentError(f"not JSON: {error}") from error

    def messages(self) -> list[dict[str, Any]]:
        """The chat messages; plain text is one user message.

        Raises:
            ContentError: the content is JSON.
        """
        wire = self.wire
        if isinstance(wire, dict) and "messages" in wire:
            return list(wire["messages"])
        if isinstance(wire, str):
            return [{"role": "user", "content": wire}]
        raise ContentError("JSON content holds no messages")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.wire == other.wire

    def __hash__(self) -> int:
        return hash(self.as_text())

    def __repr__(self) -> str:
        return f"Content({self.wire!r})"


def content(value: Any) -> Any:
    """The wire form of what an author writes: text, a list of messages, or any JSON value."""
    if isinstance(value, Content):
        return value.wire
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) and "role" in item for item in value):
        return {"messages": value}
    if isinstance(value, dict) and len(value) == 1:
        if "text" in value and isinstance(value["text"], str):
            return value["text"]
        if "messages" in value or "json" in value:
            return value
    return {"json": value}


def _text_of(wire: dict[str, Any]) -> str:
    if "messages" in wire:
        return "\n".join(_message_text(message) for message in wire["messages"])
    value = wire["json"]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _message_text(message: dict[str, Any]) -> str:
    body = message.get("content")
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "".join(str(part.get("text", "")) for part in body if isinstance(part, dict))
    return ""


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
