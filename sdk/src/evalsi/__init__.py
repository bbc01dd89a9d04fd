"""Write evaluators for Evals.si, and score records from Python.

`evaluate` and `complete` need an installed kernel and are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evalsi.content import Content, ContentError, ContentLimitError
from evalsi.context import Context
from evalsi.definition import Output, evaluator
from evalsi.judging import AskError, Completion, JudgeReply, Question
from evalsi.params import Param, ParamError
from evalsi.record import Record
from evalsi.score import Score, ScoreError, Skip

if TYPE_CHECKING:
    from evalsi.evaluation import complete, evaluate
    from evalsi.serving import serve

__all__ = [
    "AskError",
    "Completion",
    "Content",
    "ContentError",
    "ContentLimitError",
    "Context",
    "JudgeReply",
    "Output",
    "Param",
    "ParamError",
    "Question",
    "Record",
    "Score",
    "ScoreError",
    "Skip",
    "complete",
    "evaluate",
    "evaluator",
    "serve",
]


_LOADED_ON_USE = {"complete": "evalsi.evaluation", "evaluate": "evalsi.evaluation", "serve": "evalsi.serving"}


def __getattr__(name: str) -> Any:
    if name not in _LOADED_ON_USE:
        raise AttributeError(f"module 'evalsi' has no attribute {name!r}")
    return getattr(import_module(_LOADED_ON_USE[name]), name)


def __dir__() -> list[str]:
    return __all__
