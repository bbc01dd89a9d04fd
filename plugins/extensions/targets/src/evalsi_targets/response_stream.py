"""Finds the whole response in a stream of OpenAI's Responses API: its last event holds it.

It must not know how the stream came, nor what a response says.

Source: HTML Living Standard, section 9.2.6, "Interpreting an event stream".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")


def response_of_stream(text: str) -> Mapping[str, Any] | None:
    """The response, as it comes unstreamed; None where the stream ends before it does.

    Args:
        text: the whole stream.

    Raises:
        ValueError: an event is no JSON object; its data is the message.
    """
    for data in _data(text):
        event = _object(data)
        if event.get("type") == "error":
            inner = event.get("error")
            return {"status": "failed", "output": [], "error": inner if isinstance(inner, Mapping) else event}
        response = event.get("response")
        if event.get("type") in _ENDS and isinstance(response, Mapping):
            return response
    return None


def _object(data: str) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError(data) from None
    if not isinstance(value, Mapping):
        raise ValueError(data)
    return value


def _data(text: str) -> Iterator[str]:
    """The data of each event; of a last one whose line does not end nothing, for it may be cut."""
    lines: list[str] = []
    for line in _LINE_END.split(text):
        if not line and lines:
            yield "\n".join(lines)
            lines = []
        elif line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
