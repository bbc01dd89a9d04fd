"""Reads the body of a chat completion that came with a success: the text, how it ended, and what it took.

It must not judge the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Finish, Form, Reply, Tokens
from evalsi_kernel.broker.connector import ProviderError

from .bodies import count_or_none, is_encodable, is_page, read_json, text_or_empty
from .failure import failure
from .refusal import refusal_of
from .status import refused
from .who import Who

_FINISHES: Final[Mapping[str, Finish]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "tool_calls": "tool",
    "function_call": "tool",
}


def read_chat_reply(content: bytes, headers: Mapping[str, str], who: Who, form: Form) -> Reply:
    """The reply.

    Raises:
        ProviderError: `provider.bad_reply`, it is no chat completion; or as the error that stands in it says.
    """
    body = read_object(content, headers, who)
    return reply_of(body, headers, who, form)


def read_object(content: bytes, headers: Mapping[str, str], who: Who) -> Mapping[str, Any]:
    """The object that a successful answer holds; raises as `read_chat_reply` does."""
    body, trouble = read_json(content)
    if not isinstance(body, dict):
        # Where it is no JSON at all, what came says more than the place at which it stopped being JSON.
        why = f" ({trouble})" if content.lstrip().startswith((b"{", b"[")) else ""
        message = f"{who} answered with {who.excerpt(content)}, which is no reply of its API{why}."
        raise bad_reply(who, message, is_page=is_page(content))
    return without_error(body, headers, who)


def without_error(body: Mapping[str, Any], headers: Mapping[str, str], who: Who) -> Mapping[str, Any]:
    """The object; raises the error that stands in it instead of an answer."""
    if body.get("error"):
        raise _error_within(body, headers, who)
    return body


def reply_of(body: Mapping[str, Any], headers: Mapping[str, str], who: Who, form: Form) -> Reply:
    """The reply that a parsed chat completion holds; raises as `read_chat_reply` does."""
    tokens = tokens_of(body.get("usage"))
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise bad_reply(who, f"{who} answered without a choice that holds a message.", tokens)
    if choice.get("error"):
        raise _error_within(choice, headers, who)
    text = _text(message.get("content"))
    said_no = message.get("refusal")
    if text is None or not is_encodable(text):
        raise bad_reply(who, f"{who} answered with a message whose content is no text.", tokens)
    finish = _FINISHES.get(str(choice.get("finish_reason")), "other")
    if isinstance(said_no, str) and said_no and is_encodable(said_no):
        text, finish = text or said_no, "refusal"
    call_id = body.get("id") or headers.get("x-request-id")
    return Reply(text, finish, tokens, text_or_empty(body.get("model")), text_or_empty(call_id), form)


def tokens_of(usage: object) -> Tokens:
    """What `usage` tells; the prompt's tokens have the cached ones among them."""
    if not isinstance(usage, dict):
        return UNKNOWN_TOKENS
    prompt, output = count_or_none(usage.get("prompt_tokens")), count_or_none(usage.get("completion_tokens"))
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    total = count_or_none(usage.get("total_tokens"))
    if prompt is not None and output is not None and total is not None:
        # Some servers count reasoning beside the completion rather than in it; the total shows it.
        beside = total - prompt - output
        if beside > 0 and reasoning in (None, beside):
            output += beside
    if cached is None:
        # DeepSeek's name for it.
        cached = count_or_none(usage.get("prompt_cache_hit_tokens"))
    return Tokens(input=prompt, output=output, cache_read=cached, reasoning=reasoning)


def bad_reply(who: Who, message: str, tokens: Tokens = UNKNOWN_TOKENS, *, is_page: bool = False) -> ProviderError:
    """The error for an answer that is none of the API."""
    check = f"check {who.flag('base-url')} and what stands between here and the server"
    hint = f"{check[0].upper()}{check[1:]}." if is_page else f"Try again later; if it stays so, {check}."
    return failure("provider.bad_reply", message, hint, tokens=tokens, is_page=is_page)


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int | None:
    details = usage.get(group)
    return count_or_none(details.get(name)) if isinstance(details, dict) else None


def _error_within(body: Mapping[str, Any], headers: Mapping[str, str], who: Who) -> ProviderError:
    """An error that came with a success, as gateways pass it on from the server behind them."""
    refusal = refusal_of(body)
    first = refusal.code.split(" ")[0]
    status = int(first) if first.isdecimal() and len(first) == 3 and first[0] in "45" else 0
    message = f'{who} answered with an error: "{who.quoted(refusal.message or refusal.code)}".'
    return refused(status, refusal, message, headers, who) if status else bad_reply(who, message)


def _text(content: object) -> str | None:
    """The text of a message's content: plain, in parts, or absent, which reads as empty."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [one.get("text") if isinstance(one, Mapping) else None for one in content]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None
