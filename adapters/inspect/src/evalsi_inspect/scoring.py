"""Runs one of Inspect's scorers on a record: on a state made by hand, without an evaluation around it.

An error of the judge comes out as itself, whatever Inspect makes of it. It must not know the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import inspect_ai.scorer
from inspect_ai.scorer import Scorer, Target
from inspect_ai.solver import TaskState, multiple_choice

from evalsi import Context, Record, Score
from evalsi_inspect.judge_model import JudgeApi, model_of
from evalsi_inspect.table import ScorerRow
from evalsi_inspect.task_state import target_of, task_state
from evalsi_inspect.verdict import score_of


class Runner:
    """One of Inspect's scorers, made once where it asks no model, and else for each record.

    Args:
        row: of the scorer.
        params: of the evaluator.
    """

    def __init__(self, row: ScorerRow, params: Mapping[str, Any]) -> None:
        self._row = row
        self._factory = getattr(inspect_ai.scorer, row.scorer)
        self._params = dict(params)
        # The solver's, which reads the letters; the scorer only compares them.
        self._multiple_correct = self._params.pop("multiple_correct", False)
        self._is_yes_no = _is_yes_no(row, self._params)
        self._scorer: Scorer | None = None if row.asks_judge else self._factory(**self._params)

    async def score(self, record: Record, ctx: Context) -> Score:
        """The verdict on a record.

        Raises:
            Skip: the judge would not see an image or the like; or there is no answer.
            AskError: the judge failed.
            NoGrade: the scorer ran and has no verdict.
        """
        if self._row.asks_judge:
            record.require_shown("input", "output", "reference")
        state, target = task_state(record), target_of(record)
        if self._row.name == "choice":
            state = await self._with_chosen(state)
        if self._scorer is not None:
            return score_of(await self._scorer(state, target), is_yes_no=self._is_yes_no)
        return await self._graded(JudgeApi(ctx), state, target)

    async def _graded(self, judge: JudgeApi, state: TaskState, target: Target) -> Score:
        scorer = self._factory(model=model_of(judge), **self._params)
        try:
            verdict = await scorer(state, target)
        finally:
            # Also where Inspect wrapped it in an error of its own, or went on without an answer.
            if judge.fault is not None:
                raise judge.fault
        return score_of(verdict, judge.replies, is_yes_no=self._is_yes_no)

    async def _with_chosen(self, state: TaskState) -> TaskState:
        """The state with the choices that the output names marked, as Inspect's solver marks them."""

        async def generate(state: TaskState, *_: Any, **__: Any) -> TaskState:
            return state

        marked: TaskState = await multiple_choice(multiple_correct=self._multiple_correct)(state, generate)
        return marked


def _is_yes_no(row: ScorerRow, params: Mapping[str, Any]) -> bool:
    """Whether every verdict is right or wrong: a judge whose instructions are the user's own may be offered a P."""
    if row.verdict == "by params":
        return not params.get("partial_credit") and params.get("instructions") is None
    return row.verdict == "pass"
