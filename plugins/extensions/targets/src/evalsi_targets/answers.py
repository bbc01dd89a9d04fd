"""What a service, a function or a command answered, read into an output with what else it says: usage, steps, context.

It must not know how the answer came.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.records.contents import BadField, contexts, trajectory
from evalsi_kernel.target import Generated

EXTRAS = frozenset({"usage", "trajectory", "context", "metadata"})
_INPUT, _OUTPUT = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")


def generated(answer: Mapping[str, Any], whose: str) -> Generated:
    """The answer as a run keeps it.

    Args:
        answer: with `output`, and perhaps `usage`, `trajectory`, `context` and `metadata`; what is null is not there.
        whose: who answered, to begin a sentence with.

    Raises:
        ProviderError: `target.output`; there is no output, or something cannot be what it should.
    """
    output = answer.get("output")
    if output is None:
        raise ProviderError(
            "target.output",
            f"{whose} gave null as its output.",
            'Give a text, "" where there is nothing to say; raise an error where it failed.',
        )
    tokens, cost_usd = usage_of(answer.get("usage"))
    fields: dict[str, Any] = {}
    try:
        if answer.get("trajectory") is not None:
            fields["trajectory"] = trajectory(answer["trajectory"])
        if answer.get("context") is not None:
            fields["context"] = contexts(answer["context"])
    except BadField as bad:
        raise ProviderError("target.output", f"{whose} gave what cannot be read: {bad.message}.", bad.hint) from bad
    metadata = answer.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise ProviderError("target.output", f"{whose} gave metadata that is no object.", "Give it as an object.")
    return Generated(output, tokens, cost_usd, fields=fields, metadata=metadata or {})


def is_answer(value: Any) -> bool:
    """Whether a value is an answer rather than an output: it has `output`, and nothing but what goes with it."""
    return isinstance(value, dict) and "output" in value and value.keys() <= EXTRAS | {"output"}


def usage_of(value: Any) -> tuple[Tokens, float | None]:
    """Tokens and dollars as an answer tells them, under our names or OpenAI's; what is no number is unknown."""
    if not isinstance(value, dict):
        return UNKNOWN_TOKENS, None
    tokens = Tokens(_count(value, _INPUT), _count(value, _OUTPUT))
    cost = value.get("cost_usd")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not (0 <= cost < math.inf):
        return tokens, None
    return tokens, float(cost)


def _count(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
