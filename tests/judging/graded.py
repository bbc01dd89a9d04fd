"""An evaluator that asks the judge one question a record. It imports nothing else, since a pack of it starts often."""

from __future__ import annotations

from evalsi import Context, Record, evaluator

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
