"""criteria: the weighted share of a list of criteria that an output meets, each judged by a question of its own.

A criterion that is judged alone does not lean on the others, and one that is added later costs only itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite
from typing import Annotated, Any, NamedTuple

from evalsi import JudgeReply, Output, Param, ParamError, Question, Record, Score, evaluator
from evalsi.fencing import fenced_messages
from evalsi_pack_judge.criterion_prompt import criterion_prompt
from evalsi_pack_judge.prompt import Prompt
from evalsi_pack_judge.replies import form, origin
from evalsi_pack_judge.texts import FIELDS, answer_blocks, is_blank, material

MAX_CRITERIA = 100
_FORM = form(met={"type": "boolean"})
_KEYS = {"name", "text", "weight"}


class Criterion(NamedTuple):
    """What an output must do, by which name it is reported, and how much it counts."""

    name: str
    text: str
    weight: float


@evaluator(
    name="criteria",
    version=3,
    needs=("output",),
    asks=("judge",),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class Criteria:
    """Weighted share of a list of criteria that the output meets (judge, one question each)."""

    def __init__(
        self,
        *,
        criteria: Annotated[
            list[str | dict[str, Any]],
            Param(description="texts, or tables of text, name and weight (1)", min_length=1),
        ],
    ) -> None:
        if len(criteria) > MAX_CRITERIA:
            raise ParamError("criteria", f"there are {len(criteria)}; at most {MAX_CRITERIA} are judged.")
        self._criteria = [_criterion(number, one) for number, one in enumerate(criteria, 1)]
        names = [one.name for one in self._criteria]
        twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
        if twice is not None:
            raise ParamError("criteria", f"two are called {twice!r}. Give each its own name.")
        if not isfinite(sum(one.weight for one in self._criteria)):
            raise ParamError("criteria", "the weights come to more than a float can hold. Give smaller ones.")
        self._prompts = [criterion_prompt(one.text) for one in self._criteria]

    def plan(self, record: Record) -> list[Question]:
        """One question a criterion."""
        record.require_shown("output")
        blocks = [*material(record, FIELDS, ()), *answer_blocks("answer", record.output)]
        return [Question(fenced_messages(prompt.rules, blocks, prompt.task), _FORM) for prompt in self._prompts]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> Score:
        """A number from 0 to 1."""
        judged = list(zip(self._criteria, replies, strict=True))
        met = [one for one, reply in judged if reply.value["met"]]
        missed = [(one, reply) for one, reply in judged if not reply.value["met"]]
        value = fsum(one.weight for one in met) / fsum(one.weight for one in self._criteria)
        count = f"{len(met)} of {len(judged)} criteria met"
        said = [{"name": one.name, "weight": one.weight, **reply.value} for one, reply in judged]
        return Score(
            value=value,
            explanation=f"{count}. Not met: {missed[0][0].name}: {missed[0][1].value['reason']}"
            if missed
            else f"{count}.",
            metadata={"criteria": said, **origin(self._whole, replies)},
        )

    @property
    def _whole(self) -> Prompt:
        """All prompts as one, so that a score names them all."""
        return Prompt(self._prompts[0].rules, "\n".join(prompt.task for prompt in self._prompts))


def _criterion(number: int, written: str | dict[str, Any]) -> Criterion:
    """A criterion as a user writes it; raises `ParamError`."""
    where = f"criterion {number}"
    table = {"text": written} if isinstance(written, str) else written
    strange = sorted(set(table) - _KEYS)
    if strange:
        raise ParamError("criteria", f"{where} has {strange[0]!r}. It takes text, name and weight.")
    text, weight = table.get("text"), table.get("weight", 1)
    if not isinstance(text, str) or is_blank(text):
        raise ParamError("criteria", f"{where} has no text. Say in a sentence what the output must do.")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not isfinite(weight) or weight <= 0:
        raise ParamError("criteria", f"{where} has the weight {weight!r}. Give a number above 0.")
    name = table.get("name", text.strip())
    if not isinstance(name, str) or is_blank(name):
        raise ParamError("criteria", f"{where} has the name {name!r}. Give a text, or leave it out.")
    return Criterion(name, text.strip(), float(weight))
