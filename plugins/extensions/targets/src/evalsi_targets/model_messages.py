"""What a model is asked about a record: the messages of its input, or a prompt filled from it.

It must not know which API they go to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from evalsi_kernel.broker.ask import NO_TOKENS
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.records.mapping import FIELDS

from .template import filled

_SINGLE: Final = re.compile(r"(?<!\{)\{\s*([A-Za-z_][\w.\-]*)\s*\}(?!\})")
ROLES: Final = frozenset({"system", "developer", "user", "assistant"})


def messages_of(record: Mapping[str, Any], prompt: str | None) -> list[dict[str, str]]:
    """The messages, each with a role and a text.

    Args:
        record: as it is sent to evaluators.
        prompt: with places; None takes the record's input.

    Raises:
        ProviderError: `target.input`; there is no input, or it is neither text nor messages of text, or a message
            calls a tool.
    """
    if prompt is not None:
        return [{"role": "user", "content": filled(prompt, record)}]
    content = record.get("input")
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    if isinstance(content, dict) and "messages" in content:
        return [_message(message) for message in content["messages"]]
    what = "has no input" if content is None else "has an input that is neither text nor messages"
    raise _unfit(
        f"The record {what}, so the model cannot be asked.",
        "Map a column to input, or write a prompt that names the parts: {{input.question}}.",
    )


def single_brace_warnings(texts: Mapping[str, str | None]) -> list[str]:
    """Say which prompts have a field in single braces, which goes to the model as it is written.

    Args:
        texts: key of the spec → its text.
    """
    return [
        f"spec.target.{key} has {found[0]}, which is sent as it is written; {{{found[0]}}} is filled from the record"
        for key, text in texts.items()
        if text
        for found in _SINGLE.finditer(text)
        if found[1].split(".")[0] in FIELDS
    ]


def _message(message: Mapping[str, Any]) -> dict[str, str]:
    # Left out, the model would be asked about another talk than the record holds.
    if message.get("tool_calls") or str(message["role"]) not in ROLES:
        raise _unfit(
            "A message of the input calls a tool, or has another role than system, user and assistant: a model is not "
            "asked with such ones here.",
            "Put what the tools said into the texts, or ask a service of your own that takes such messages (http).",
        )
    content = message.get("content")
    if not isinstance(content, str):
        raise _unfit(
            "A message of the input has no text as its content, which is all that a model is asked with.",
            "Write the content as text.",
        )
    return {"role": str(message["role"]), "content": content}


def _unfit(message: str, hint: str) -> ProviderError:
    return ProviderError("target.input", message, hint, source="record", tokens=NO_TOKENS)
