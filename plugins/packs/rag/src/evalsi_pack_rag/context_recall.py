"""Context recall: the share of the reference's sentences that the context supports.

Es et al. (2023), "RAGAS". Sentences are found by rules and not by the judge, so that the denominator is the same in
every run; the judge only says whether each is supported.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi import JudgeReply, Output, Question, Record, Score, evaluator
from evalsi.fencing import Block
from evalsi_pack_rag.prompts import SUPPORT
from evalsi_pack_rag.replies import origin
from evalsi_pack_rag.sentences import sentences
from evalsi_pack_rag.support import share_supported, support_questions, support_verdicts
from evalsi_pack_rag.texts import chunks_of, question_blocks


@evaluator(
    name="context-recall",
    version=2,
    needs=("context", "reference"),
    asks=("judge",),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class ContextRecall:
    """Share of the reference's sentences that the context supports, best reference."""

    def plan(self, record: Record) -> list[Question]:
        """The questions of all references, one after another."""
        return [question for questions in _asked(record) for question in questions]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> Score:
        """A number from 0 to 1."""
        left, judged = iter(replies), []
        for stated, questions in zip(_statements(record), _asked(record), strict=True):
            judged.append(support_verdicts(stated, [next(left) for _ in questions]))
        best = max(judged, key=share_supported)
        missing = [one.statement for one in best if not one.is_supported]
        count = f"{len(best) - len(missing)} of {len(best)} sentences supported"
        return Score(
            value=share_supported(best),
            explanation=f"{count}; the first that is not: {missing[0]}" if missing else f"{count}.",
            metadata={"sentences": [one.to_metadata("sentence") for one in best], **origin(replies, SUPPORT)},
        )


def _statements(record: Record) -> list[list[str]]:
    """The sentences of each reference that has one.

    Raises:
        Skip: a reference holds an image or the like.
        ValueError: none has one.
    """
    record.require_shown("reference")
    found = [stated for reference in record.references if (stated := sentences(reference.as_text()))]
    if not found:
        raise ValueError("no reference holds a letter or a digit; correct the references of this record")
    return found


def _asked(record: Record) -> list[list[Question]]:
    """Return the questions about each of `_statements`."""
    chunks, question = chunks_of(record), question_blocks(record)
    stated = _statements(record)
    return [support_questions(one, chunks, [*question, *_passage(one)]) for one in stated]


def _passage(stated: Sequence[str]) -> list[Block]:
    """All of a reference, where a sentence of it may speak of what another names."""
    return [("passage", "\n".join(stated))] if len(stated) > 1 else []
