"""Citation accuracy: the share of the answer's citations, such as [2], that point at a text of the context.

With `support`, the texts that a sentence cites must support it too, as in Gao et al. (2023), "Enabling Large Language
Models to Generate Text with Citations", where all that one sentence cites is taken together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from evalsi import JudgeReply, Output, Param, Question, Record, Score, Skip, evaluator
from evalsi.fencing import Block
from evalsi_pack_rag.cited_sentences import CitedSentence, cited_sentences
from evalsi_pack_rag.prompts import SUPPORT
from evalsi_pack_rag.prose import ProseReader
from evalsi_pack_rag.replies import origin
from evalsi_pack_rag.sentences import has_word
from evalsi_pack_rag.support import Judged, support_questions, support_verdicts
from evalsi_pack_rag.texts import chunks_of, question_blocks

# So many wrong citations are shown; the count is of all.
_SHOWN = 50


class _Cited(NamedTuple):
    """A sentence with what it cites.

    Args:
        sentence: with its markers.
        found: numbers that point at a text of the context, as often as they are cited.
        missing: numbers that point at nothing, likewise.
    """

    sentence: CitedSentence
    found: list[int]
    missing: list[int]

    @property
    def can_be_judged(self) -> bool:
        """Whether it says something, and cites something for it."""
        return bool(self.found) and has_word(self.sentence.text)


@evaluator(
    name="citation-accuracy",
    version=2,
    needs=("output", "context"),
    # A judge is asked with `support` only, and what is listed here must be there in every run.
    asks=(),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class CitationAccuracy:
    """Share of the output's citations, such as [2], that point at a text of the context."""

    def __init__(
        self,
        *,
        require_citation: Annotated[
            bool, Param(description="an output without a citation scores 0; else it is skipped")
        ] = True,
        support: Annotated[
            bool, Param(description="a judge must also find that the cited texts support the sentence")
        ] = False,
    ) -> None:
        self._require_citation = require_citation
        self._support = support
        self._prose = ProseReader()

    def plan(self, record: Record) -> list[Question]:
        """With `support` a question a sentence that cites a text; else none."""
        if not self._support:
            return []
        chunks = {chunk.number: chunk for chunk in chunks_of(record)}
        return [
            question
            for cited in self._cited(record)
            if cited.can_be_judged
            for question in support_questions(
                [cited.sentence.text],
                [chunks[number] for number in dict.fromkeys(cited.found)],
                [*question_blocks(record), *_passage(cited.sentence)],
            )
        ]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> Score:
        """A number from 0 to 1."""
        cited = self._cited(record)
        if not cited:
            if not self._require_citation:
                raise Skip("the output has no citation")
            return Score(value=0.0, explanation="The output has no citation.")
        wrong = [number for one in cited for number in one.missing]
        total = len(wrong) + sum(len(one.found) for one in cited)
        note = f"{total - len(wrong)} of {total} citations point at a text of the context"
        metadata: dict[str, Any] = {"citations": total, "pointing_at_nothing": wrong[:_SHOWN]}
        right = total - len(wrong)
        if self._support:
            judged = _judged(cited, replies)
            right = sum(len(one.found) for one, verdict in zip(cited, judged, strict=True) if verdict.is_supported)
            note += f", {right} of them at one that supports the sentence"
            metadata["sentences"] = [
                {**verdict.to_metadata("sentence"), "cites": [*one.found, *one.missing][:_SHOWN]}
                for one, verdict in zip(cited, judged, strict=True)
            ]
            metadata |= origin(replies, SUPPORT)
        return Score(value=right / total, explanation=f"{note}.", metadata=metadata)

    def _cited(self, record: Record) -> list[_Cited]:
        numbers = {chunk.number for chunk in chunks_of(record)}
        found = []
        for sentence in cited_sentences(self._prose.paragraphs(record.output.as_text())):
            cites = [number for marker in sentence.markers for number in marker.numbers]
            there = [number for number in cites if number in numbers]
            found.append(_Cited(sentence, there, [number for number in cites if number not in numbers]))
        return found


def _judged(cited: Sequence[_Cited], replies: Sequence[JudgeReply]) -> list[Judged]:
    """A verdict a sentence; one that could not be judged is not supported."""
    left = iter(replies)
    judged = []
    for one in cited:
        if one.can_be_judged:
            judged += support_verdicts([one.sentence.text], [next(left)])
        else:
            reason = "It says nothing." if one.found else "What it cites is not there."
            judged.append(Judged(one.sentence.text, "not_judged", reason))
    return judged


def _passage(sentence: CitedSentence) -> list[Block]:
    """The paragraph, where it says more than the sentence."""
    return [] if sentence.paragraph == sentence.text else [("passage", sentence.paragraph)]
