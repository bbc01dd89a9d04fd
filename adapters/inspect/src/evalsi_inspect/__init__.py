"""Inspect AI's scorers as evaluators. Inspect is imported when the first record is scored."""

from __future__ import annotations

from evalsi_inspect.evaluators import evaluator_of
from evalsi_inspect.table import SCORERS

__all__ = ["EVALUATORS"]

EVALUATORS = [evaluator_of(row) for row in SCORERS]
