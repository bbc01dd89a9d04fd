"""Faithfulness: the share of the answer's claims that the context supports.

Es et al. (2023), "RAGAS: Automated Evaluation of Retrieval Augmented Generation": claims are taken from the answer,
then each is judged. Here no claims is no score, and a claim that the context does not speak of is not supported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from evalsi import Context, Output, Question, Record, Score, Skip, evaluator
from evalsi.fencing import fenced_messages
from evalsi_pack_rag.prompts import CLAIMS, SUPPORT
from evalsi_pack_rag.replies import answered, form, origin
from evalsi_pack_rag.support import Judged, share_supported, support_questions, support_verdicts
from evalsi_pack_rag.texts import answer_of, chunks_of, is_blank, question_blocks

_CLAIMS_FORM = form(claims={"type": "array", "items": {"type": "string"}, "description": "none where there is none"})


@evaluator(
    name="faithfulness",
    version=2,
    needs=("output", "context"),
    asks=("judge",),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
async def faithfulness(record: Record, ctx: Context) -> Score:
    """Share of the answer's claims that the context supports; an answer without claims is skipped."""
    chunks = chunks_of(record)
    answer = answer_of(record)
    if is_blank(answer):
        raise Skip("no claims: the output is empty")
    question = Question(
        fenced_messages(CLAIMS.rules, [*question_blocks(record), ("answer", answer)], CLAIMS.task), _CLAIMS_FORM
    )
    asked = answered(await ctx.judge_all([question]))
    claims = distinct(asked[0].value["claims"])
    if not claims:
        raise Skip("no claims: the judge found none in the output")
    replies = answered(await ctx.judge_all(support_questions(claims, chunks)))
    judged = support_verdicts(claims, replies)
    return Score(
        value=share_supported(judged),
        explanation=_explanation(judged),
        metadata={
            "claims": [one.to_metadata("claim") for one in judged],
            **origin([*asked, *replies], CLAIMS, SUPPORT),
        },
    )


def distinct(claims: Iterable[str]) -> list[str]:
    """The claims that say something, each once, whatever its case, width and white space."""
    kept: dict[str, str] = {}
    for claim in claims:
        if not is_blank(claim):
            kept.setdefault(" ".join(unicodedata.normalize("NFKC", claim).casefold().split()), claim.strip())
    return list(kept.values())


def _explanation(judged: list[Judged]) -> str:
    unsupported = [one.statement for one in judged if not one.is_supported]
    count = f"{len(judged) - len(unsupported)} of {len(judged)} claims supported"
    return f"{count}; the first that is not: {unsupported[0]}" if unsupported else f"{count}."
