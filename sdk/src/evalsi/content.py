"""What a record's field holds: text, chat messages, or JSON.

It reads the wire form and never changes it; it must not know a record or an evaluator.
"""

from __future__ import annotations

import json
from math import isinf
from typing import Any, NoReturn


class ContentError(ValueError):
    """The content is not what was asked for, such as text that is not JSON."""


class ContentLimitError(ContentError):
    """The content may be what was asked for, but is beyond what can be read: its nesting, or a number's size."""


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
            ContentLimitError: it may be JSON, but is nested too deep, or has a number beyond Python's range: an integer
                of more than 4,300 digits, or 1e999, which a float would take for infinity and for 2e999.
        """
        wire = self.wire
        if isinstance(wire, dict) and "json" in wire:
            return wire["json"]
        try:
            return json.loads(self.as_text(), parse_constant=_refuse_constant, parse_float=_finite_float)
        except RecursionError:
            raise ContentLimitError("not JSON that can be read: it is nested too deep") from None
        except json.JSONDecodeError as error:
            raise ContentError(f"not JSON: {error}") from error
        except ContentError:
            raise
        except ValueError as error:
            # All that json refuses besides is an integer of more digits than Python reads.
            raise ContentLimitError("not JSON that can be read: it has an integer of too many digits") from error

    def messages(self) -> list[dict[str, Any]]:
        """The chat messages; plain text is one user message.

        Raises:
            ContentError: the content is JSON.
        """
        wire = self.wire
        if isinstance(wire, str):
            return [{"role": "user", "content": wire}]
        if "messages" in wire:
            return list(wire["messages"])
        raise ContentError("JSON content holds no messages")

    def __eq__(self, other: object) -> bool:
        """Compare with other content, with a text, or with a JSON value."""
        if isinstance(other, Content):
            return bool(self.wire == other.wire)
        if isinstance(other, str):
            return self.as_text() == other
        return isinstance(self.wire, dict) and "json" in self.wire and bool(self.wire["json"] == other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Content({self.wire!r})"


def content(value: Any) -> Any:
    """The wire form of what an author writes: text, a list of messages, or any JSON value."""
    if isinstance(value, Content):
        return value.wire
    if isinstance(value, str):
        return value
    if is_messages(value):
        return {"messages": value}
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("text"), str):
            return value["text"]
        if "json" in value or is_messages(value.get("messages")):
            return value
    return {"json": value}


def is_messages(value: Any) -> bool:
    """Whether a value is a list of chat messages, each with a role."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def _text_of(wire: dict[str, Any]) -> str:
    if "messages" in wire:
        texts = (_message_text(message) for message in wire["messages"])
        return "\n".join(text for text in texts if text is not None)
    value = wire["json"]
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _message_text(message: dict[str, Any]) -> str | None:
    """The text of one message, its parts joined; None where it has none, as one that only calls a tool."""
    body = message.get("content")
    if isinstance(body, list):
        texts = [part["text"] for part in body if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "".join(texts) if texts else None
    return body if isinstance(body, str) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ContentError(f"not JSON: {name} is no JSON value")


def _finite_float(written: str) -> float:
    number = float(written)
    if isinf(number):
        shown = written if len(written) <= 40 else f"{written[:39]}…"
        raise ContentLimitError(f"not JSON that can be read: {shown} is beyond the range of a float")
    return number
