"""Owns short excerpts of what the two runs answered on the records that are shown.

Records are read again for it, so that no text is kept of those that are not shown. It must not know scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from .side import Side

MAX_CHARS = 160
# Answers that begin alike are shown from so many characters before they part, where that is not near their beginning.
BEFORE_CHARS = 20
_NEAR_CHARS = 40
_MAX_READ_CHARS = 50_000

Item = tuple[str, int]
"""A record's id and a trial."""


class Excerpt(NamedTuple):
    """What was asked, and what both runs answered. Texts of one line."""

    input: str
    base: str
    candidate: str


def excerpts(base: Side, candidate: Side, wanted: Iterable[Item]) -> dict[Item, Excerpt]:
    """Excerpts of these items.

    Raises:
        ConfigError: a record is damaged.
    """
    items = set(wanted)
    if not items:
        return {}
    before, after = (_lines_of(side, items) for side in (base, candidate))
    found = {}
    for item in items:
        (asked, one), (_, other) = before.get(item, ("", "")), after.get(item, ("", ""))
        start = _start(one, other)
        found[item] = Excerpt(_cut(asked, 0), _cut(one, start), _cut(other, start))
    return found


def _start(one: str, other: str) -> int:
    """From where two answers are shown."""
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return same - BEFORE_CHARS if one != other and same > _NEAR_CHARS else 0


def _cut(line: str, start: int) -> str:
    text = f"{'…' if start else ''}{line[start:]}"
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


def _lines_of(side: Side, items: set[Item]) -> dict[Item, tuple[str, str]]:
    """Input and output of the items, as one line each."""
    return {
        item: (_line(record.input), _line(record.output))
        for record in side.records()
        if (item := (record.id, record.trial)) in items
    }


def _line(content: Any) -> str:
    return " ".join(_text(content)[:_MAX_READ_CHARS].split())


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict) and isinstance(content.get("messages"), list) and content["messages"]:
        last = content["messages"][-1]
        return _text(last.get("content") if isinstance(last, dict) else last)
    if isinstance(content, dict) and content.keys() == {"json"}:
        content = content["json"]
    return json.dumps(content, ensure_ascii=False)
