"""Finds the whole response in a stream of OpenAI's Responses API: its last event holds it.

It must not know how the stream came, nor what a response says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from .server_events import data_of_events

_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")


def response_of_stream(text: str) -> Mapping[str, Any] | None:
    """The response, as it comes unstreamed; None where the stream ends before it does.

    Args:
        text: the whole stream.

    Raises:
        ValueError: an event is no JSON object; its data is the message.
    """
    for data in data_of_events(text):
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
