"""Puts a streamed message of Anthropic's API together: the body that the same answer has unstreamed.

It must not judge the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .server_events import broken_off, events
from .who import Who


def message_of_stream(content: bytes, who: Who) -> Mapping[str, Any]:
    """The body; what a model thinks is left out of it, as is what a tool would be given, which nobody asks for here.

    Args:
        content: the whole stream.
        who: that was called.

    Raises:
        ProviderError: `provider.connection`, it ends before the answer does; `provider.bad_reply`, it is none.
    """
    message: dict[str, Any] = {}
    texts: list[str] = []
    has_ended = False
    for event in events(content, who):
        if event is None or event.get("type") == "message_stop":
            has_ended = True
            break
        if event.get("type") == "error":
            return event
        if event.get("type") == "message_start":
            message = dict(_object(event, "message"))
        texts.append(_text(_object(event, "content_block")) or _text(_object(event, "delta")))
        if event.get("type") == "message_delta":
            usage = {name: count for name, count in _object(event, "usage").items() if count is not None}
            message["usage"] = {**_object(message, "usage"), **usage}
            message["stop_reason"] = _object(event, "delta").get("stop_reason")
    if not has_ended:
        raise broken_off(who)
    return {**message, "content": [{"type": "text", "text": "".join(texts)}]}


def _object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, Mapping) else {}


def _text(part: Mapping[str, Any]) -> str:
    """The text of a block or of a piece of one; "" for one of another kind."""
    text = part.get("text")
    return text if isinstance(text, str) else ""
