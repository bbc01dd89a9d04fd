"""Puts a streamed chat completion together: the body that the same answer has unstreamed.

It must not judge the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .server_events import broken_off, events
from .who import Who


def chat_of_stream(content: bytes, who: Who) -> Mapping[str, Any]:
    """The body.

    Args:
        content: the whole stream.
        who: that was called.

    Raises:
        ProviderError: `provider.connection`, it ends before the answer does; `provider.bad_reply`, it is none.
    """
    body: dict[str, Any] = {}
    said: dict[str, list[str]] = {"content": [], "refusal": []}
    finish: Any = None
    has_ended = False
    for chunk in events(content, who):
        if chunk is None:
            has_ended = True
            break
        if chunk.get("error"):
            return chunk
        body |= {name: chunk[name] for name in ("id", "model", "usage") if chunk.get(name) is not None}
        choice = _first_choice(chunk)
        if choice.get("error"):
            return {**body, "error": choice["error"]}
        finish = choice.get("finish_reason") or finish
        delta = choice.get("delta")
        for name, parts in said.items():
            part = delta.get(name) if isinstance(delta, Mapping) else None
            if isinstance(part, str):
                parts.append(part)
    if finish is None and not has_ended:
        raise broken_off(who)
    message = {name: "".join(parts) for name, parts in said.items()}
    return {**body, "choices": [{"message": message, "finish_reason": finish}]}


def _first_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The only one that was asked for; the last chunk has none, where it tells the usage."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else {}
