"""Evaluators of Evals.si as scorers in a project that uses Inspect AI."""

from __future__ import annotations

from evalsi_inspect_bridge.scorer import EvaluatorFailed, evalsi_scorer

__all__ = ["EvaluatorFailed", "evalsi_scorer"]
