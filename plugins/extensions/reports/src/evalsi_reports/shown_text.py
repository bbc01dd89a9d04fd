"""Owns how texts of strangers are shown: contents as text, what is unseen made visible, long ones cut.

It must not know a form of a report; each escapes for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# Controls other than tab and line feed, marks that turn the direction of text, and halves of surrogate pairs.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufff9-\ufffb\ufffe\uffff]"
)
_LINE_ENDS = re.compile("\r\n?")
_DIGITS = re.compile(r"\d+")


def visible(text: str) -> str:
    """The text with what would be unseen, or would change how others are seen, made visible."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_sign, _LINE_ENDS.sub("\n", text))


def cut(text: str, limit: int) -> tuple[str, int]:
    """The text, made visible and at most `limit` characters long, and how many characters were cut away.

    A text that is little longer than the limit stays whole, since the note of the cut would be as long.
    """
    missing = len(text) - limit
    if missing <= 40:
        return visible(text), 0
    return visible(text[:limit]), missing


def one_line(text: str, limit: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(visible(text[: limit * 2]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def content_text(content: Any) -> str:
    """What a content says: a text as it is, messages under their roles, JSON indented."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict) and len(content) == 1:
        if isinstance(content.get("messages"), list):
            return "\n\n".join(_message(one) for one in content["messages"])
        if "json" in content:
            return json_text(content["json"])
        if isinstance(content.get("text"), str):
            return str(content["text"])
    return json_text(content)


def json_text(value: Any) -> str:
    """A JSON value as indented text; one that is small on one line."""
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= 80 else json.dumps(value, ensure_ascii=False, indent=2)


def without_numbers(text: str) -> str:
    """What messages that differ in their numbers alone have in common."""
    return _DIGITS.sub("#", text)


def _message(message: Any) -> str:
    if not isinstance(message, Mapping):
        return json_text(message)
    content = message.get("content")
    told = content if isinstance(content, str) else "" if content is None else json_text(content)
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    if rest:
        told = f"{told}\n{json_text(rest)}".strip()
    return f"{message.get('role', 'message')}:\n{told}"


def _sign(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
