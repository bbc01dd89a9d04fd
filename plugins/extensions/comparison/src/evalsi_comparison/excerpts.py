"""Owns short excerpts of what the two runs answered on the records that are shown.

Records are read again for it, so that no text is kept of those that are not shown. It must not know scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from .side import Side

MAX_CHARS = 160


class Excerpt(NamedTuple):
    """What both runs answered on a record in its first trial that each has; and what was asked. Texts of one line."""

    input: str = ""
    base: str = ""
    candidate: str = ""


def excerpts(base: Side, candidate: Side, wanted: Iterable[str]) -> dict[str, Excerpt]:
    """Excerpts of the records with these ids.

    Raises:
        ConfigError: a record is damaged.
    """
    ids = set(wanted)
    if not ids:
        return {}
    outputs = [_outputs(side, ids) for side in (base, candidate)]
    return {
        record_id: Excerpt(
            outputs[1].get(record_id, ("", ""))[0],
            outputs[0].get(record_id, ("", ""))[1],
            outputs[1].get(record_id, ("", ""))[1],
        )
        for record_id in ids
    }


def excerpt(content: Any) -> str:
    """A content as one line of text, cut where it is long."""
    text = _text(content)
    # A long text is cut before its spaces are, which takes as long as it is.
    line = " ".join(text[: 4 * MAX_CHARS].split())
    return line if len(line) <= MAX_CHARS and len(text) <= 4 * MAX_CHARS else f"{line[: MAX_CHARS - 1]}…"


def _outputs(side: Side, ids: set[str]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for record in side.records():
        if record.id in ids and record.id not in found:
            found[record.id] = excerpt(record.input), excerpt(record.output)
    return found


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
