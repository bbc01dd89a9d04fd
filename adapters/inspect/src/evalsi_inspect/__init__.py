"""Inspect AI's scorers as evaluators, and `evalsi_scorer`, which makes an evaluator of Evals.si a scorer of Inspect's.

Inspect is imported on use only: at the first record that is scored, or with `evalsi_scorer`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evalsi_inspect.evaluators import evaluator_of
from evalsi_inspect.table import SCORERS

if TYPE_CHECKING:
    from evalsi_inspect.reverse import EvaluatorFailed, evalsi_scorer

__all__ = ["EVALUATORS", "EvaluatorFailed", "evalsi_scorer"]

EVALUATORS = [evaluator_of(row) for row in SCORERS]

_LOADED_ON_USE = ("EvaluatorFailed", "evalsi_scorer")


def __getattr__(name: str) -> Any:
    if name not in _LOADED_ON_USE:
        raise AttributeError(f"module 'evalsi_inspect' has no attribute {name!r}")
    return getattr(import_module("evalsi_inspect.reverse"), name)
