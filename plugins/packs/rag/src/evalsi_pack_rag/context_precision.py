"""Context precision: whether the chunks that help to answer the question stand before those that do not.

Each chunk is judged by itself, so that its verdict cannot depend on its rank, and so that a chunk which was judged for
a question before costs nothing in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalsi import JudgeReply, Output, Question, Record, Score, evaluator
from evalsi.fencing import fenced_messages
from evalsi_pack_rag.average_precision import average_precision
from evalsi_pack_rag.prompts import CHUNK
from evalsi_pack_rag.replies import REASON, form, origin
from evalsi_pack_rag.texts import chunks_of, question_of

_FORM = form(reason=REASON, relevant={"type": "boolean"})


@evaluator(
    name="context-precision",
    version=2,
    needs=("input", "context"),
    asks=("judge",),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class ContextPrecision:
    """Average precision of the chunks of the context that the judge finds relevant to the input, in rank order."""

    def plan(self, record: Record) -> list[Question]:
        """One question a chunk; none for a blank one."""
        question = question_of(record)
        return [
            Question(fenced_messages(CHUNK.rules, [("question", question), ("context", chunk.text)], CHUNK.task), _FORM)
            for chunk in chunks_of(record)
        ]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> Score:
        """A number from 0 to 1."""
        said = {chunk.number: reply.value for chunk, reply in zip(chunks_of(record), replies, strict=True)}
        blank = {"relevant": False, "reason": "The chunk is blank."}
        chunks: list[dict[str, Any]] = [
            {"rank": rank, **said.get(rank, blank)} for rank in range(1, len(record.context) + 1)
        ]
        relevant = [chunk["relevant"] for chunk in chunks]
        ranks = ", ".join(str(chunk["rank"]) for chunk in chunks if chunk["relevant"]) or "none"
        return Score(
            value=average_precision(relevant),
            explanation=f"Relevant ranks of {len(chunks)}: {ranks}.",
            metadata={"chunks": chunks, **origin(replies, CHUNK)},
        )
