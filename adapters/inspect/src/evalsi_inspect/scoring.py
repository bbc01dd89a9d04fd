"""Run a scorer of Inspect on a record, with a task state made by hand and no evaluation around it.

An error of the judge is raised unchanged, even if Inspect wraps or swallows it.
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
    """A scorer of Inspect, created once; a scorer with a judge is created for each record.

    Args:
        row: row of the scorer.
        params: params of the evaluator.
    """

    def __init__(self, row: ScorerRow, params: Mapping[str, Any]) -> None:
        self._row = row
        self._factory = getattr(inspect_ai.scorer, row.scorer)
        self._params = dict(params)
        # A param of the solver, which reads the letters; the scorer only compares them.
        self._multiple_correct = self._params.pop("multiple_correct", False)
        self._is_yes_no = _is_yes_no(row, self._params)
        self._scorer: Scorer | None = None if row.asks_judge else self._factory(**self._params)

    async def score(self, record: Record, ctx: Context) -> Score:
        """Return the score of a record.

        Raises:
            Skip: there is no answer, or the record has content such as images that the judge would not see.
            AskError: the judge failed.
            NoGrade: the scorer ran and gave no verdict.
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
            # Inspect may have wrapped the error, or continued without an answer.
            if judge.fault is not None:
                raise judge.fault
        return score_of(verdict, judge.replies, is_yes_no=self._is_yes_no)

    async def _with_chosen(self, state: TaskState) -> TaskState:
        """Return the state with the choices in the output marked, as Inspect's solver marks them."""

        async def generate(state: TaskState, *_: Any, **__: Any) -> TaskState:
            return state

        marked: TaskState = await multiple_choice(multiple_correct=self._multiple_correct)(state, generate)
        return marked


def _is_yes_no(row: ScorerRow, params: Mapping[str, Any]) -> bool:
    """Return whether every verdict is correct or incorrect. With the user's own instructions a judge may give a P."""
    if row.verdict == "by params":
        return not params.get("partial_credit") and params.get("instructions") is None
    return row.verdict == "pass"
