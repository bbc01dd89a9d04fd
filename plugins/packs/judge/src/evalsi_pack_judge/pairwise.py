"""pairwise: whether an output is better than another one for the same record; asked in both orders.

A judge leans to what it reads first (Zheng et al. 2023, "Judging LLM-as-a-Judge"); what it says in one order only is no
preference, but a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from evalsi import Content, JudgeReply, Output, Param, ParamError, Question, Record, Score, Skip, evaluator
from evalsi.content import content
from evalsi.fencing import fenced_messages
from evalsi.record import require_shown
from evalsi_pack_judge.pairwise_prompt import pairwise_prompt
from evalsi_pack_judge.replies import form, origin
from evalsi_pack_judge.rubrics import HELPFULNESS, rubric_of
from evalsi_pack_judge.texts import answer_blocks, is_blank, material, says_nothing

WIN_RATE = "pairwise-win-rate"
WIN, TIE, LOSS = "win", "tie", "loss"
POINTS = {WIN: 1.0, TIE: 0.5, LOSS: 0.0}
_FORM = form(verdict={"type": "string", "enum": ["a", "b", "tie"]})


class _Order(NamedTuple):
    """In which order the two were shown, and which verdict means what for the output."""

    first: str
    means: dict[str, str]


_ORDERS = (
    _Order("output", {"a": WIN, "b": LOSS, "tie": TIE}),
    _Order("other", {"a": LOSS, "b": WIN, "tie": TIE}),
)


@evaluator(
    name="pairwise",
    version=3,
    needs=("output", "metadata"),
    asks=("judge",),
    outputs=[Output(kind="label", higher_is_better=None), Output(WIN_RATE, minimum=0.0, maximum=1.0)],
)
class Pairwise:
    """Win, tie or loss of the output against another one, and the win rate (a tie is a half)."""

    def __init__(
        self,
        *,
        rubric: Annotated[
            str,
            Param(
                description="helpfulness, relevance (both need input), correctness (needs reference), faithfulness "
                "(needs context), or your own words",
                min_length=1,
            ),
        ] = HELPFULNESS.name,
        other: Annotated[
            str, Param(description="where the other output stands in the record's metadata", min_length=1)
        ] = "baseline",
        swap: Annotated[bool, Param(description="ask in both orders; two verdicts that do not agree are a tie")] = True,
    ) -> None:
        if is_blank(other):
            raise ParamError("other", f"{other!r} names nothing. Write a key of the metadata, such as baseline.")
        self._rubric = rubric_of(rubric)
        self._path = other.split(".")
        self._orders = _ORDERS if swap else _ORDERS[:1]
        self._prompt = pairwise_prompt(self._rubric.text)

    def plan(self, record: Record) -> list[Question]:
        """A question an order; none where the two are the same, or where one is empty."""
        other = self._other(record)
        shared = material(record, self._rubric.shows, self._rubric.needs)
        record.require_shown("output")
        require_shown(other, "other output")
        if self._plain(record, other):
            return []
        questions = []
        for order in self._orders:
            pair = (record.output, other) if order.first == "output" else (other, record.output)
            answers = [
                block
                for name, answer in zip(("answer_a", "answer_b"), pair, strict=True)
                for block in answer_blocks(name, answer)
            ]
            questions.append(
                Question(fenced_messages(self._prompt.rules, [*shared, *answers], self._prompt.task), _FORM)
            )
        return questions

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> list[Score]:
        """A label, and its points."""
        if not replies:
            label, reason = self._plain(record, self._other(record)) or (TIE, "")
            return self._scores(label, reason, {})
        said: list[dict[str, Any]] = [
            {"first": order.first, "verdict": order.means[reply.value["verdict"]], "reason": reply.value["reason"]}
            for order, reply in zip(self._orders, replies, strict=True)
        ]
        verdicts = {one["verdict"] for one in said}
        label = said[0]["verdict"] if len(verdicts) == 1 else TIE
        reason = said[0]["reason"] if len(verdicts) == 1 else "In the other order the judge says something else."
        return self._scores(label, reason, {"orders": said, **origin(self._prompt, replies)})

    def _scores(self, label: str, reason: str, metadata: dict[str, Any]) -> list[Score]:
        return [
            Score(label=label, explanation=reason, metadata={"rubric": self._rubric.name, **metadata}),
            Score(name=WIN_RATE, value=POINTS[label]),
        ]

    def _other(self, record: Record) -> Content:
        """The other output; raises `Skip` when the metadata has none."""
        value: Any = record.metadata
        for key in self._path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            raise Skip(f"record has no metadata.{'.'.join(self._path)}")
        return Content(content(value), "other output")

    def _plain(self, record: Record, other: Content) -> tuple[str, str] | None:
        """What needs no judge: the label and why."""
        if record.output == other:
            return TIE, "The two outputs are the same."
        silent = [says_nothing(one) for one in (record.output, other)]
        if self._rubric.is_own or not any(silent):
            return None
        if all(silent):
            return TIE, "Both outputs are empty."
        return (LOSS, "The output is empty.") if silent[0] else (WIN, "The other output is empty.")
