"""llm-judge: the judge grades an output by a rubric; the grade's place on its scale is the score, from 0 to 1.

Whether a record passes is decided by the threshold alone, never by what the judge says beside the grade.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from evalsi import JudgeReply, Output, Param, ParamError, Question, Record, Score, Skip, evaluator
from evalsi.fencing import fenced_messages
from evalsi_pack_judge.grading_prompt import grading_prompt
from evalsi_pack_judge.replies import form, origin
from evalsi_pack_judge.rubrics import CORRECTNESS, FAITHFULNESS, rubric_of
from evalsi_pack_judge.texts import answer_blocks, material, says_nothing

PASSED = "llm-judge-passed"
MAX_STEPS = 100


@evaluator(
    name="llm-judge",
    version=3,
    needs=("output",),
    asks=("judge",),
    outputs=[Output(minimum=0.0, maximum=1.0), Output(PASSED, kind="pass")],
)
class LlmJudge:
    """The judge's grade by a rubric, on 0 to 1; with a threshold also whether it passes."""

    def __init__(
        self,
        *,
        rubric: Annotated[
            str,
            Param(
                description="correctness (needs reference), faithfulness (needs context), helpfulness, relevance (both "
                "need input), or your own words",
                min_length=1,
            ),
        ] = CORRECTNESS.name,
        scale: Annotated[
            tuple[float, ...],
            Param(
                description="the least and the greatest grade that the judge may give; written with decimals, such as "
                "[0.0, 1.0], grades may have decimals too",
                min_length=2,
            ),
        ] = (1, 5),
        threshold: Annotated[
            float | None,
            Param(description="pass from this score on, on 0 to 1 whatever the scale is", minimum=0, maximum=1),
        ] = None,
    ) -> None:
        self._rubric = rubric_of(rubric)
        self._low, self._high = _ends(scale)
        self._threshold = threshold
        self._prompt = grading_prompt(self._rubric.text, self._low, self._high, decimals=_has_decimals(scale))
        kind = "number" if _has_decimals(scale) else "integer"
        self._form = form(score={"type": kind, "minimum": self._low, "maximum": self._high})

    def plan(self, record: Record) -> list[Question]:
        """One question; none where there is nothing to grade or nothing to grade by."""
        blocks = material(record, self._rubric.shows, self._rubric.needs)
        record.require_shown("output")
        if self._nothing(record):
            return []
        blocks += answer_blocks("answer", record.output)
        return [Question(fenced_messages(self._prompt.rules, blocks, self._prompt.task), self._form)]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> list[Score]:
        """A number from 0 to 1, and with a threshold a pass or fail."""
        if not replies:
            return self._scores(0.0, self._nothing(record), {})
        (reply,) = replies
        grade = reply.value["score"]
        value = (grade - self._low) / (self._high - self._low)
        metadata = {"grade": grade, "scale": [self._low, self._high], **origin(self._prompt, replies)}
        return self._scores(value, reply.value["reason"], metadata)

    def _scores(self, value: float, reason: str, metadata: dict[str, Any]) -> list[Score]:
        scores = [Score(value=value, explanation=reason, metadata={"rubric": self._rubric.name, **metadata})]
        if self._threshold is not None:
            note = f"{value:g}, to pass from {self._threshold:g} on"
            scores.append(Score(name=PASSED, passed=value >= self._threshold, explanation=note))
        return scores

    def _nothing(self, record: Record) -> str:
        """Why a built-in rubric gives 0 without a judge; "" when one is to be asked.

        Raises:
            Skip: the rubric has nothing to say of such a record.
        """
        if self._rubric.is_own:
            return ""
        if says_nothing(record.output):
            if self._rubric is FAITHFULNESS:
                raise Skip("the output is empty, so it states nothing that could be unfaithful")
            return "The output is empty."
        return ""


def _has_decimals(scale: Sequence[float]) -> bool:
    """Whether grades between the whole numbers are asked for: `[0.0, 1.0]`, and not `[0, 1]`."""
    return any(isinstance(end, float) for end in scale)


def _ends(scale: Sequence[float]) -> tuple[float, float]:
    if len(scale) != 2 or not scale[0] < scale[1]:
        raise ParamError("scale", f"{list(scale)} is no scale. Write its least and its greatest grade, such as [1, 5].")
    low, high = scale
    if high - low > MAX_STEPS:
        raise ParamError("scale", f"{list(scale)} has more than {MAX_STEPS} steps, which no judge tells apart.")
    return low, high
