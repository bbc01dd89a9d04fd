"""Reads the body of a message of Anthropic's API: the text, how it ended, and what it took.

It must not judge the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Finish, Form, Reply, Tokens

from .bodies import count_or_none, is_encodable, text_or_empty
from .chat_reply import bad_reply
from .messages_request import TOOL
from .who import Who

_FINISHES: Final[Mapping[str, Finish]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "tool_use": "tool",
}


def message_of(body: Mapping[str, Any], who: Who, form: Form) -> Reply:
    """The reply that a parsed message holds.

    Raises:
        ProviderError: `provider.bad_reply`; it is no message.
    """
    tokens = message_tokens(body.get("usage"))
    content = body.get("content")
    if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
        raise bad_reply(who, f"{who} answered without a message that has content.", tokens)
    text = "".join(block["text"] for block in content if isinstance(block.get("text"), str))
    finish = _FINISHES.get(str(body.get("stop_reason")), "other")
    # A forced tool is how the structure was asked for, so its input is the answer.
    given = next((block.get("input") for block in content if block.get("name") == TOOL and "input" in block), None)
    if given is not None:
        text = json.dumps(given, ensure_ascii=False)
        finish = "stop" if finish == "tool" else finish
    if not is_encodable(text):
        raise bad_reply(who, f"{who} answered with half of a surrogate pair in its text.", tokens)
    return Reply(text, finish, tokens, text_or_empty(body.get("model")), text_or_empty(body.get("id")), form)


def message_tokens(usage: object) -> Tokens:
    """What `usage` tells; there, the tokens read from and written to the cache stand beside those of the input."""
    if not isinstance(usage, Mapping):
        return UNKNOWN_TOKENS
    fresh = count_or_none(usage.get("input_tokens"))
    cache_read = count_or_none(usage.get("cache_read_input_tokens"))
    cache_write = count_or_none(usage.get("cache_creation_input_tokens"))
    details = usage.get("output_tokens_details")
    return Tokens(
        input=None if fresh is None else fresh + (cache_read or 0) + (cache_write or 0),
        output=count_or_none(usage.get("output_tokens")),
        cache_read=cache_read,
        cache_write=cache_write,
        reasoning=count_or_none(details.get("thinking_tokens")) if isinstance(details, Mapping) else None,
    )
