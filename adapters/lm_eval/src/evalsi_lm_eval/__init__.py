"""Evaluators from lm-evaluation-harness: its metrics and filters on recorded outputs, and the scoring of its tasks.

The harness itself is imported when an evaluator is first opened.
"""

from __future__ import annotations

from typing import Any

from evalsi_lm_eval.choices import choice_evaluator
from evalsi_lm_eval.corpus_task import CorpusTask
from evalsi_lm_eval.metrics import METRICS, MetricRow
from evalsi_lm_eval.perplexities import perplexity_evaluator
from evalsi_lm_eval.task_scores import Task
from evalsi_lm_eval.texts import ExactMatch, texts_evaluator


def _evaluator(row: MetricRow) -> Any:
    if row.of == "text":
        return ExactMatch
    if row.of == "texts":
        return texts_evaluator(row)
    return choice_evaluator(row) if row.of == "choice" else perplexity_evaluator(row)


EVALUATORS = [*(_evaluator(row) for row in METRICS if row.of), Task, CorpusTask]
