"""How long, how slow, how many tokens, how dear: numbers that the record carries or that its text has.

What is not known is skipped, never 0.
"""

from __future__ import annotations

from typing import Annotated, Literal

from evalsi import Output, Param, Record, Score, Skip, evaluator

TOKENS = (("input-tokens", "input_tokens"), ("output-tokens", "output_tokens"), ("total-tokens", "total_tokens"))


@evaluator(name="length", version=3, needs=("output",), outputs=[Output(minimum=0.0, higher_is_better=None)])
def length(
    record: Record,
    *,
    unit: Annotated[
        Literal["words", "characters", "tokens"],
        Param(description="words between white space, Unicode characters, or the output tokens that usage states"),
    ] = "words",
) -> float:
    """How long the output is."""
    if unit == "tokens":
        return _known(record, "output_tokens")
    text = record.output_text
    return len(text) if unit == "characters" else len(text.split())


@evaluator(
    name="latency",
    version=1,
    needs=("usage.latency_ms",),
    outputs=[Output(unit="ms", minimum=0.0, higher_is_better=False)],
)
def latency(record: Record) -> float:
    """How long the output took, in milliseconds, from usage.latency_ms."""
    return _known(record, "latency_ms")


@evaluator(
    name="token-usage",
    version=1,
    needs=("usage",),
    outputs=[Output(name, unit="tokens", minimum=0.0, higher_is_better=False) for name, _ in TOKENS],
)
def token_usage(record: Record) -> list[Score]:
    """Input, output and total tokens, as far as usage states them; the total is their sum when both are known."""
    known = {field: value for field, value in record.usage.items() if value is not None}
    if "total_tokens" not in known and {"input_tokens", "output_tokens"} <= known.keys():
        known["total_tokens"] = known["input_tokens"] + known["output_tokens"]
    scores = [Score(name=name, value=known[field]) for name, field in TOKENS if field in known]
    if not scores:
        raise Skip("record has no usage.input_tokens, usage.output_tokens or usage.total_tokens")
    return scores


@evaluator(
    name="cost",
    version=1,
    needs=("usage.cost_usd",),
    outputs=[Output(unit="USD", minimum=0.0, higher_is_better=False)],
)
def cost(record: Record) -> float:
    """What the output cost, in US dollars, from usage.cost_usd; 0 is a cost, unknown is none."""
    return _known(record, "cost_usd")


def _known(record: Record, field: str) -> float:
    value = record.usage.get(field)
    if value is None:
        raise Skip(f"record has no usage.{field}")
    return float(value)
