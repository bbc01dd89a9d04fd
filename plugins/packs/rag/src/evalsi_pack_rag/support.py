"""Which statements the context supports: the question to the judge that faithfulness, recall and citations share.

Several statements go into one question, because the context is what a question costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evalsi import JudgeReply, Question
from evalsi.fencing import Block, fence_code, fenced_messages
from evalsi_pack_rag.prompts import SUPPORT
from evalsi_pack_rag.replies import REASON, form, parts_of
from evalsi_pack_rag.texts import Chunk

# So many that a judge keeps them apart, and that the form stays within a hundred properties, as some providers want.
STATEMENTS_A_QUESTION = 20
SUPPORTED = "supported"
_VERDICT = form(
    reason=REASON, verdict={"type": "string", "enum": [SUPPORTED, "contradicted", "not_stated"]}
)  # The reason first: it is written before the verdict, and not to suit it.


class Judged(NamedTuple):
    """A statement with what the judge says of it."""

    statement: str
    verdict: str
    reason: str

    @property
    def is_supported(self) -> bool:
        """Whether the context supports it; a contradicted one and one that is not stated are not."""
        return self.verdict == SUPPORTED

    def to_metadata(self, name: str) -> dict[str, Any]:
        """For a person who asks why; `name` says what the statement is, such as "claim"."""
        return {name: self.statement, "verdict": self.verdict, "reason": self.reason}


def support_questions(
    statements: Sequence[str], chunks: Sequence[Chunk], setting: Sequence[Block] = ()
) -> list[Question]:
    """What to ask; nothing where there are no statements.

    Args:
        statements: to judge.
        chunks: what they may rest on.
        setting: further blocks, which tell what the statements are about.
    """
    shared = [*((f"context_{chunk.number}", chunk.text) for chunk in chunks), *setting]
    code = fence_code([*statements, *(text for _, text in shared)])
    return [
        Question(
            fenced_messages(SUPPORT.rules, [*shared, *zip(names, part, strict=True)], SUPPORT.task, code),
            form(**dict.fromkeys(names, _VERDICT)),
        )
        for names, part in _parts(statements)
    ]


def support_verdicts(statements: Sequence[str], replies: Sequence[JudgeReply]) -> list[Judged]:
    """What the replies to `support_questions` say, a verdict a statement, in order."""
    return [
        Judged(statement, verdict["verdict"], verdict["reason"])
        for (names, part), reply in zip(_parts(statements), replies, strict=True)
        for statement, verdict in zip(part, parts_of(reply, names), strict=True)
    ]


def share_supported(judged: Sequence[Judged]) -> float:
    """The supported part of at least one, from 0 to 1."""
    return sum(one.is_supported for one in judged) / len(judged)


def _parts(statements: Sequence[str]) -> Iterator[tuple[list[str], Sequence[str]]]:
    """The statements a question, with the names that they have there."""
    for start in range(0, len(statements), STATEMENTS_A_QUESTION):
        part = statements[start : start + STATEMENTS_A_QUESTION]
        yield [f"statement_{number}" for number in range(start + 1, start + len(part) + 1)], part
