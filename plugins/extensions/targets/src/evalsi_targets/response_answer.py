"""A response of OpenAI's Responses API read into an output: its texts, its calls of tools as steps, its tokens.

It must not know how the response came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Tokens
from evalsi_kernel.target import Generated

_CUT = {"max_output_tokens": "length", "content_filter": "refusal"}


def response_answer(answer: Mapping[str, Any]) -> Generated:
    """What a response says: the texts of its messages are the output, the calls that it made are steps.

    Args:
        answer: the response, with its list `output`.
    """
    items = [item for item in answer["output"] if isinstance(item, dict)]
    parts = [
        part
        for item in items
        if item.get("type") == "message"
        for part in item.get("content") or ()
        if isinstance(part, dict)
    ]
    texts = [str(part.get("text") or part.get("refusal") or "") for part in parts]
    steps = [step for item in items if (step := _step(item)) is not None]
    finish = _finish(answer, parts, steps)
    model = answer.get("model")
    return Generated(
        "\n".join(filter(None, texts)),
        _tokens(answer.get("usage")),
        model=model if isinstance(model, str) else "",
        fields={"trajectory": {"steps": steps}} if steps else {},
        metadata={"finish": finish} if finish else {},
    )


def _finish(answer: Mapping[str, Any], parts: list[dict[str, Any]], steps: list[dict[str, Any]]) -> str | None:
    """Why it ended, where it did not say all that it had to say."""
    if answer.get("status") == "incomplete":
        details = answer.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        return _CUT.get(str(reason), "other")
    if any(part.get("type") == "refusal" for part in parts):
        return "refusal"
    return "tool" if steps and not parts else None


def _step(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """A call of a tool as a step of the trajectory; None for anything else."""
    kind = str(item.get("type"))
    if not kind.endswith("_call"):
        return None
    given = item.get("arguments", item.get("action", item.get("queries")))
    if isinstance(given, str):
        with suppress(ValueError):  # Else it stays as the model wrote it.
            given = json.loads(given)
    step: dict[str, Any] = {"type": "tool", "name": item.get("name") or kind.removesuffix("_call")}
    told = {"input": given, "output": item.get("output"), "error": item.get("error")}
    return {**step, **{key: value for key, value in told.items() if value is not None}}


def _tokens(usage: Any) -> Tokens:
    if not isinstance(usage, dict):
        return UNKNOWN_TOKENS
    return Tokens(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage.get("input_tokens_details"), "cached_tokens"),
        None,
        _count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and value >= 0 else None
