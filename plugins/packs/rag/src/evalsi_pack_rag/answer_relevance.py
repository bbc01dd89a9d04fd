"""Answer relevance: how far the answer answers what was asked, graded by the judge on five steps from 0 to 1.

Whether the answer is true is another question; faithfulness asks it.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi import JudgeReply, Output, Question, Record, Score, evaluator
from evalsi.fencing import fenced_messages
from evalsi_pack_rag.prompts import ANSWER
from evalsi_pack_rag.replies import REASON, form, origin
from evalsi_pack_rag.texts import answer_of, is_blank, question_of

GRADES = {"not": 0.0, "barely": 0.25, "partly": 0.5, "mostly": 0.75, "fully": 1.0}
_FORM = form(reason=REASON, grade={"type": "string", "enum": list(GRADES)})


@evaluator(
    name="answer-relevance",
    version=3,
    needs=("input", "output"),
    asks=("judge",),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class AnswerRelevance:
    """How far the output answers the input (judge, five steps from 0 to 1); an empty output is 0."""

    def plan(self, record: Record) -> list[Question]:
        """One question; none for an empty output."""
        question, answer = question_of(record), answer_of(record)
        if is_blank(answer):
            return []
        return [
            Question(fenced_messages(ANSWER.rules, [("question", question), ("answer", answer)], ANSWER.task), _FORM)
        ]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> Score:
        """A number from 0 to 1."""
        if not replies:
            return Score(value=0.0, explanation="The output is empty.")
        (reply,) = replies
        grade, reason = reply.value["grade"], reply.value["reason"]
        return Score(value=GRADES[grade], explanation=reason, metadata={"grade": grade, **origin(replies, ANSWER)})
