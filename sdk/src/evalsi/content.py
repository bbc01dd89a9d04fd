"""Content of a record's field: text, chat messages, or JSON.

Decides for all evaluators which message of a conversation is the answer, and which parts text cannot show
(docs/decisions/0019-answer-of-a-conversation.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isinf
from typing import Any, NoReturn

from evalsi.score import Skip

ANSWERING_ROLES = frozenset(("assistant", "ai", "model"))
"""Roles of the model in chat formats, in lower case."""

# Types of message parts that `as_text()` leaves out → name in messages.
_MEDIA = {
    **dict.fromkeys(("image", "image_url", "input_image", "output_image"), "an image"),
    **dict.fromkeys(("audio", "audio_url", "input_audio", "output_audio"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "a video"),
    **dict.fromkeys(("file", "input_file", "document"), "a file"),
}
# Keys that hold the medium, in the formats of OpenAI, Anthropic, Hugging Face and LangChain.
_MEDIUM_KEYS = (*_MEDIA, "source", "file_id", "file_data", "data", "url", "base64", "path", "bytes", "image_path")
_GOOGLE_MEDIA = ("inline_data", "inlineData", "file_data", "fileData")
# Parts that add nothing to the message's text, tool calls and tool results.
_SILENT = frozenset(
    ("thinking", "redacted_thinking", "reasoning", "tool_use", "server_tool_use", "tool_call", "function_call")
)
_SAYING = frozenset(("text", "input_text", "output_text", "refusal", "tool_result", "function_call_output"))


class ContentError(ValueError):
    """The content does not have the requested form, such as text that is not JSON."""


class ContentLimitError(ContentError):
    """The content exceeds a limit of the JSON parser: nesting depth, or the size of a number."""


class Content:
    """One piece of content, readable as text, as JSON or as messages.

    Args:
        wire: text, `{"messages": [...]}` or `{"json": value}`.
        answer_of: "output" or "reference" if the content is an answer; its text is then the last assistant message.
            "" reads all messages.
    """

    __slots__ = ("_answer_of", "wire")

    def __init__(self, wire: Any, answer_of: str = "") -> None:
        self.wire = wire
        self._answer_of = answer_of

    @property
    def is_text(self) -> bool:
        """Whether the content is plain text, not messages or JSON."""
        return type(self.wire) is str

    def as_text(self) -> str:
        """Return the content as text: plain text, the text of messages, or compact JSON with sorted keys.

        If an output or a reference is a conversation, its text is the last assistant message. If an input or a context
        is a conversation, its text is all messages, one per line.

        Raises:
            Skip: an output or a reference has no assistant message, or its last assistant message holds media and no
                text.
        """
        wire = self.wire
        if type(wire) is str:
            return wire
        if "messages" in wire:
            return self._answer_text() if self._answer_of else _conversation_text(wire["messages"])
        value = wire["json"]
        if isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def answer_place(self) -> int:
        """Return the index of the last assistant message, which is the answer of a conversation.

        Raises:
            Skip: there is no assistant message.
            ContentError: the content is JSON.
        """
        messages = self.messages()
        for place in range(len(messages) - 1, -1, -1):
            if str(messages[place].get("role")).casefold() in ANSWERING_ROLES:
                return place
        raise Skip(f"the {self._answer_of or 'conversation'} has no assistant message, so there is no answer in it")

    def unseen(self) -> list[str]:
        """Return what `as_text` leaves out, such as "an image"; empty if it leaves out nothing."""
        wire = self.wire
        if type(wire) is str:
            return []
        found = _unseen_messages(wire["messages"]) if "messages" in wire else _unseen_media(wire["json"])
        return list(dict.fromkeys(found))

    def _answer_text(self) -> str:
        message = self.wire["messages"][self.answer_place()]
        text = message_text(message)
        if text is not None:
            return text
        unseen = Content({"messages": [message]}).unseen()
        if unseen:
            raise Skip(f"the {self._answer_of} holds {' and '.join(unseen)} and no text")
        return ""

    def as_json(self) -> Any:
        """Return the JSON value. Text is parsed strictly: NaN and Infinity are errors.

        Raises:
            ContentError: the text is not JSON; the message gives the position.
            ContentLimitError: the JSON is nested too deep, has an integer of more than 4,300 digits, or a number beyond
                the range of a float, such as 1e999.
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
            # The only other ValueError of json is an integer with more digits than Python parses.
            raise ContentLimitError("not JSON that can be read: it has an integer of too many digits") from error

    def messages(self) -> list[dict[str, Any]]:
        """Return all chat messages. Plain text counts as one user message.

        Raises:
            ContentError: the content is JSON.
        """
        wire = self.wire
        if isinstance(wire, str):
            return [{"role": "user", "content": wire}]
        if "messages" in wire:
            return list(wire["messages"])
        raise ContentError("JSON content has no messages")

    def __eq__(self, other: object) -> bool:
        """Compare with other content, with text, or with a JSON value."""
        if isinstance(other, Content):
            return bool(self.wire == other.wire)
        if isinstance(other, str):
            return self.as_text() == other
        return isinstance(self.wire, dict) and "json" in self.wire and bool(self.wire["json"] == other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Content({self.wire!r})"


def content(value: Any) -> Any:
    """Return the wire form of text, a list of messages, or any JSON value."""
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
    """Return whether a value is a list of chat messages, each with a role."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def message_text(message: dict[str, Any]) -> str | None:
    """Return the text of one message, its parts joined; None if it has no text, as in a tool call."""
    body = message.get("content")
    if isinstance(body, dict):
        body = [body]
    if isinstance(body, list):
        texts = [text for text in map(_part_text, body) if text is not None]
        return "".join(texts) if texts else None
    return body if isinstance(body, str) else None


def message_calls(message: dict[str, Any]) -> list[Any]:
    """Return the tool calls of one message, in the forms of OpenAI (`tool_calls`) and Anthropic (`tool_use`)."""
    listed = message.get("tool_calls") or []
    calls = list(listed) if isinstance(listed, list) else [listed]
    if message.get("function_call"):
        calls.append(message["function_call"])
    body = message.get("content")
    if isinstance(body, list):
        calls += [part for part in body if isinstance(part, dict) and part.get("type") in ("tool_use", "tool_call")]
    return calls


def _conversation_text(messages: list[dict[str, Any]]) -> str:
    texts = (message_text(message) for message in messages)
    return "\n".join(text for text in texts if text is not None)


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    text = part.get("text")
    if isinstance(text, str):
        return text
    match part.get("type"):
        case "refusal":
            text = part.get("refusal")
        case "tool_result" | "function_call_output":
            text = message_text({"content": part.get("content", part.get("output"))})
        case "document":
            source = part.get("source")
            text = source.get("data") if isinstance(source, dict) and source.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _unseen_messages(messages: list[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        body = message.get("content")
        parts = body if isinstance(body, list) else [body] if isinstance(body, dict) else []
        # Google's format has `parts` next to the role.
        own = message.get("parts")
        for part in [*parts, *(own if isinstance(own, list) else ())]:
            yield from _unseen_part(part)
        for key in ("image", "images", "audio"):
            if message.get(key):
                yield "audio" if key == "audio" else "an image"


def _unseen_part(part: Any) -> Iterator[str]:
    if not isinstance(part, dict):
        return
    kind = part.get("type")
    medium = _medium(part)
    if medium is not None:
        yield medium
    elif kind in ("tool_result", "function_call_output"):
        inner = part.get("content", part.get("output"))
        for one in inner if isinstance(inner, list) else [inner]:
            yield from _unseen_part(one)
    elif kind in _MEDIA and _part_text(part) is None:
        yield _MEDIA[kind]
    elif kind not in _SILENT and kind not in _SAYING and _part_text(part) is None:
        yield f"a part of type {kind!r:.40}"


def _unseen_media(value: Any) -> Iterator[str]:
    """Yield the media inside a JSON value, such as a list of message parts without an enclosing message."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if _is_vendor_part(one):
                yield _medium(one) or ""
            else:
                pending += one.values()
        elif isinstance(one, list):
            pending += one


def _is_vendor_part(value: dict[str, Any]) -> bool:
    """Return whether an object is media in a provider's format; `{"type": "file", "path": "a.txt"}` is plain data."""
    if any(isinstance(value.get(key), dict) for key in _GOOGLE_MEDIA):
        return True
    kind = value.get("type")
    keys = ("source", "file") if kind in ("image", "document", "file") else (str(kind), "image_url")
    holds = any(isinstance(value.get(key), dict) for key in keys) or kind in ("input_image", "image_url", "input_file")
    return holds and _medium(value) is not None


def _medium(part: dict[str, Any]) -> str | None:
    """Return the name of the medium that a message part holds, in any known format; None if it holds none."""
    if any(isinstance(part.get(key), dict) for key in _GOOGLE_MEDIA):
        return "an image or a file"
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in _MEDIA or not any(part.get(key) for key in _MEDIUM_KEYS):
        return None
    source = part.get("source")
    # The text of an Anthropic document with a text source is shown.
    return None if isinstance(source, dict) and source.get("type") == "text" else _MEDIA[kind]


def _refuse_constant(name: str) -> NoReturn:
    raise ContentError(f"not JSON: {name} is not a JSON value")


def _finite_float(written: str) -> float:
    number = float(written)
    if isinf(number):
        shown = written if len(written) <= 40 else f"{written[:39]}…"
        raise ContentLimitError(f"not JSON that can be read: {shown} is beyond the range of a float")
    return number
