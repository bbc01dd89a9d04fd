"""Models of Evals.si in a project that uses lm-evaluation-harness. Importing it registers the model `evalsi`."""

from __future__ import annotations

from evalsi_lm_eval_bridge.generation import CannotGenerate
from evalsi_lm_eval_bridge.model import EvalsiModel, NoAnswers, NoLikelihood

__all__ = ["CannotGenerate", "EvalsiModel", "NoAnswers", "NoLikelihood"]
