"""An evaluator that asks the judge one question a record, and the key under which that question is known."""

from __future__ import annotations

from evalsi import Context, Record, evaluator
from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.judge_key import judge_key
from tests.providers import MODEL

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["score"],
    "additionalProperties": False,
}


@evaluator(name="graded", version=1, needs=("output",), asks=("judge",))
async def graded(record: Record, *, ctx: Context) -> float:
    """The judge's score from 1 to 5."""
    reply = await ctx.judge([{"role": "user", "content": question(record.output.as_text())}], schema=SCHEMA)
    score: int = reply.value["score"]
    return score


def question(output: str) -> str:
    """What the judge is asked about an output."""
    return f"Grade: {output}."


def custom_id(base_url: str, output: str, provider: str = "openai-compatible") -> str:
    """The custom id of the question about an output."""
    identity = {"provider": provider, "model": MODEL, "base_url": base_url}
    return judge_key(identity, Ask([{"role": "user", "content": question(output)}], SCHEMA)).digest
