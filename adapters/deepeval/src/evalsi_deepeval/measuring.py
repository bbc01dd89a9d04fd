"""One session of an evaluator: the params made ready once, then one metric object of DeepEval a record.

Imported when the session opens, as DeepEval takes about a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from deepeval.errors import MissingTestCaseParamsError
from pydantic import BaseModel

from evalsi import Context, ParamError, Record, Score, Skip
from evalsi_deepeval.cases import case_of, fields_read
from evalsi_deepeval.construction import framework_metric, made_settings
from evalsi_deepeval.judge_model import JudgeModel, UnusableReply
from evalsi_deepeval.metrics import AT_LEAST_ONE, Metric
from evalsi_deepeval.question_schema import Demands

_THREADS = ThreadPoolExecutor(256, thread_name_prefix="deepeval")
"""As many as records may be in flight; a thread is made when it is first needed."""


class Measuring:
    """Measures records with one metric and its params.

    Args:
        metric: its row.
        params: by their names, defaults filled in.

    Raises:
        ParamError: DeepEval refuses a value.
    """

    def __init__(self, metric: Metric, params: Mapping[str, Any]) -> None:
        self._metric = metric
        self._params = params
        try:
            self._settings = made_settings(metric, params)
            framework_metric(metric, self._settings, JudgeModel())
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ParamError(_blamed(metric, params, str(error)), f"DeepEval refuses it. {error}") from error
        self._check_criteria()
        self._fields = fields_read(metric, params)

    async def scores(self, record: Record, context: Context) -> list[Score]:
        """The score of one record; with a threshold, or in strict mode, also whether it passes.

        Raises:
            Skip: the record lacks what the metric reads.
            AskError: the judge gave no answer.
            UnusableReply: an answer, or what DeepEval made of it, is no score.
        """
        case = case_of(self._metric, self._params, self._fields, record)
        if self._metric.name == "exact-match":
            return await self._best_of_references(case, record)
        return await self._measured(case, context)

    async def _best_of_references(self, case: Any, record: Record) -> list[Score]:
        found = []
        for reference in record.reference_texts:
            case.expected_output = reference
            found.append(await self._measured(case, None))
        return max(found, key=lambda scores: bool(scores[0].passed))

    async def _measured(self, case: Any, context: Context | None) -> list[Score]:
        model = JudgeModel(context, lambda answer: self._demands(answer, measured, case))
        measured = framework_metric(self._metric, self._settings, model)
        try:
            measuring = measured.a_measure(case, _show_indicator=False)
            await (_in_a_thread(measuring) if self._metric.waits else measuring)
        except MissingTestCaseParamsError as error:
            raise Skip(str(error)) from error
        except Exception as error:
            # DeepEval wraps what looks to it like a prompt that is too long.
            raise model.failure or error from error
        if model.failure is not None:
            raise model.failure
        return self._scores(measured, model.replies)

    def _scores(self, measured: Any, replies: list[str]) -> list[Score]:
        metadata: dict[str, Any] = {"replies": replies} if replies else {}
        reason = measured.reason if isinstance(measured.reason, str) else None
        if self._metric.shape == "arena":
            label = "win" if measured.winner == "output" else "loss"
            return [Score(label=label, explanation=reason, metadata=metadata or None)]
        value = measured.score
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise UnusableReply(f"DeepEval's {self._metric.framework_class} gave {value!r}, which is not from 0 to 1.")
        if measured.score_breakdown:
            metadata["parts"] = measured.score_breakdown
        if self._metric.yes_no and value not in (0, 1):
            raise UnusableReply(f"DeepEval's {self._metric.framework_class} gave {value!r}, which is neither 0 nor 1.")
        verdict: dict[str, Any] = {"passed": value == 1} if self._metric.yes_no else {"value": float(value)}
        scores = [Score(**verdict, explanation=reason, metadata=metadata or None)]
        if measured.threshold is not None:
            note = f"{value:g}, to pass from {measured.threshold:g} on"
            passed = value >= measured.threshold
            scores.append(Score(name=f"{self._metric.name}-passed", passed=passed, explanation=note))
        return scores

    def _demands(self, answer: type[BaseModel], measured: Any, case: Any) -> Demands:
        questions = getattr(measured, "assessment_questions", None)
        turns = getattr(case, "turns", None)
        return Demands(
            verdicts=_count(self._metric.verdicts_for, measured, case),
            answers=len(questions) if questions else 1,
            turns=len(turns) if turns else None,
            grade=self._grade(measured) if answer.__name__ == "ReasonScore" else (0, 1),
        )

    def _grade(self, measured: Any) -> tuple[float, float]:
        """The range of a grade; that of a geval within a graph is DeepEval's own."""
        if "dag" in self._params:
            return (0, 10)
        return (0, 1) if measured.strict_mode else getattr(measured, "score_range", (0, 10))

    def _check_criteria(self) -> None:
        params = self._params
        if "criteria" not in params:
            return
        if not params["criteria"] and not params["evaluation_steps"]:
            raise ParamError("criteria", "Neither criteria nor evaluation_steps is given. Give one of the two.")
        low, high = _ends(params.get("rubric") or [])
        if low == high:
            raise ParamError(
                "rubric", f"Its grades all are {low}, so that no score comes of them. Widen a score_range."
            )


async def _in_a_thread(measuring: Coroutine[Any, Any, Any]) -> None:
    """Measure on a loop of its own, so that a metric that waits for an answer holds up no other record."""
    await asyncio.get_running_loop().run_in_executor(_THREADS, asyncio.run, measuring)


def _ends(rubric: list[dict[str, Any]]) -> tuple[int, int]:
    ranges = [table["score_range"] for table in rubric]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0, 10)


def _count(verdicts_for: str, measured: Any, case: Any) -> int:
    if verdicts_for in ("", AT_LEAST_ONE):
        return 1 if verdicts_for else 0
    items = getattr(measured, verdicts_for, None)
    if items is None:
        items = getattr(case, verdicts_for, None)
    return len(items or ())


def _blamed(metric: Metric, params: Mapping[str, Any], message: str) -> str:
    """The param that an error of DeepEval's names, else the first of the metric's."""
    names = [setting.name for setting in metric.params]
    named = (name for name in names if name in message or name.rstrip("s") in message.lower())
    given = (name for name in names if params.get(name) is not None)
    return next(named, None) or next(given, names[0])
