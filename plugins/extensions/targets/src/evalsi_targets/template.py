"""`{{input}}` and `{{metadata.key}}` in a text, filled from a record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from evalsi_kernel.broker.ask import NO_TOKENS
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.checking.toml_tables import Misfit
from evalsi_kernel.records.mapping import FIELDS, MISSING, reach

_BRACES = re.compile(r"\{\{[^{}]*\}\}")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
PLACE = re.compile(r"\{\{\s*([A-Za-z_][\w.\-]*)\s*\}\}")


def check_places(template: str) -> str:
    """The template, whose braces all are places that name what a record may have; raises `Misfit`."""
    for found in _BRACES.finditer(template):
        if not PLACE.fullmatch(found[0]):
            raise Misfit(f"has {found[0]}, which is no place", "Write it as {{input}} or {{metadata.key}}.")
    check_names(template)
    return template


def check_names(template: str) -> None:
    """See that places name what a record may have; raises `Misfit`. Other braces may be meant for somebody else."""
    for found in PLACE.finditer(template):
        field = found[1].split(".")[0]
        if field not in FIELDS:
            meant = did_you_mean(field, FIELDS) or f"Write {{{{metadata.{found[1]}}}}} for a column that is not mapped."
            raise Misfit(f"has {found[0]}, and a record has no field {field}", meant)


TemplateText = Annotated[str, AfterValidator(check_places)]


def filled(template: str, record: Mapping[str, Any], shown: Callable[[Any], str] | None = None) -> str:
    """Return the text with its places filled, each as `in_text` writes it.

    Args:
        template: with `{{…}}` where values go; dots reach inside.
        record: as it is sent to evaluators.
        shown: how a value is written; None as above.

    Raises:
        ProviderError: `target.input`; the record lacks what a place names, or a message there is more than text.
    """
    write = shown or in_text

    def value(found: re.Match[str]) -> str:
        return write(value_at(record, found[1]))

    return PLACE.sub(value, template)


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """The value that a place names; raises `ProviderError` where the record has none."""
    content = reach(plain(record), tuple(name.split(".")))
    if content is MISSING:
        raise ProviderError(
            "target.input",
            f"The record has no {name}, which the template names.",
            "Map a column to it, or name another.",
            source="record",
            tokens=NO_TOKENS,
        )
    return content


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its contents as their authors wrote them: `{"json": value}` is the value."""
    return {
        name: value["json"] if isinstance(value, dict) and value.keys() == {"json"} else value
        for name, value in record.items()
    }


def in_text(value: Any) -> str:
    """Return a value as it is written within a text: of messages their texts, anything else but text as JSON.

    Of several messages each is a line that begins with its role.

    Raises:
        ProviderError: `target.input`; a message or a content part has no text, or holds something else beside it.
    """
    messages: Any = value.get("messages") if isinstance(value, dict) and "messages" in value else value
    if _is_message(value) and value["role"] in _ROLES:
        return _text_of(value)
    if not isinstance(messages, list) or not messages:
        return as_text(value)
    if all(map(_is_message, messages)):
        texts = [_text_of(message) for message in messages]
        if len(messages) == 1:
            return texts[0]
        return "\n".join(f"{message['role']}: {text}" for message, text in zip(messages, texts, strict=True))
    return _text_of_parts(messages) if all(map(_is_part, messages)) else as_text(value)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and ("content" in value or "tool_calls" in value)


def _is_part(value: Any) -> bool:
    """Whether a value is a part of a message's content, such as `{"type": "image_url", "image_url": …}`."""
    return (
        isinstance(value, dict) and isinstance(value.get("type"), str) and (value["type"] in value or "source" in value)
    )


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if message.get("tool_calls"):
        raise _more_than_text()
    if isinstance(content, str):
        return content
    return _text_of_parts(content)


def _text_of_parts(parts: Any) -> str:
    if isinstance(parts, list) and all(
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts
    ):
        return "\n".join(part["text"] for part in parts)
    raise _more_than_text()


def _more_than_text() -> ProviderError:
    return ProviderError(
        "target.input",
        "A message that the template names holds more than text, such as an image or a tool call.",
        "Name a part that is text, or send messages as they are: to a model without prompt, to a service by a "
        "placeholder without quotes, to a command with input: json.",
        source="record",
        tokens=NO_TOKENS,
    )


def as_text(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
