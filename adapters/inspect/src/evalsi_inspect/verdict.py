"""Inspect's verdict as a score: pass or fail where it is right or wrong, else a number as its `value_to_float` has it.

A value that is no grade is an error, where Inspect would log a warning and count 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, value_to_float
from inspect_ai.scorer import Score as Verdict

from evalsi import Score

GRADES = (CORRECT, PARTIAL, INCORRECT, NOANSWER)
# What value_to_float knows beside the grades and numbers.
_WORDS = ("yes", "no", "true", "false")
_to_float = value_to_float()


class NoGrade(ValueError):
    """The scorer ran, and what it gave is no grade."""


def score_of(verdict: Verdict | None, replies: Sequence[str] = (), *, is_yes_no: bool = False) -> Score:
    """Return the verdict as a score, with its grade, answer and reason in the metadata.

    Args:
        verdict: of a scorer.
        replies: of the judge, on which it rests.
        is_yes_no: whether it is right or wrong, and no number in between.

    Raises:
        NoGrade: it is unscored, or a value that is neither a grade nor a number; or the scorer ran out of time.
    """
    if verdict is None:
        raise NoGrade("the scorer declined to score this record")
    status = (verdict.metadata or {}).get("math_scorer_status", "")
    # Inspect calls an answer wrong that it had no time to read; how much time it had depends on the machine.
    if status.endswith("_timeout"):
        raise NoGrade(f"{verdict.explanation or status} Give it more time with the param timeout.")
    value = verdict.value
    if isinstance(value, float) and isnan(value):
        raise NoGrade(verdict.explanation or verdict.reason or "the scorer left this record unscored")
    if not _is_grade(value):
        raise NoGrade(f"{value!r} is no grade; it is one of {', '.join(map(str, GRADES))}, or a number")
    metadata: dict[str, Any] = {} if isinstance(value, float) else {"grade": value}
    if verdict.answer is not None:
        metadata["answer"] = verdict.answer
    if verdict.reason is not None:
        metadata["reason"] = str(verdict.reason)
    if replies:
        metadata["replies"] = list(replies)
    number = _to_float(value)
    if not is_yes_no:
        return Score(value=number, explanation=verdict.explanation, metadata=metadata or None)
    if number not in (0.0, 1.0):
        raise NoGrade(f"{value!r} is neither right nor wrong, and partial credit was not offered")
    return Score(passed=number == 1.0, explanation=verdict.explanation, metadata=metadata or None)


def _is_grade(value: Any) -> bool:
    if isinstance(value, str):
        return value in GRADES or value.lower() in _WORDS or _is_number(value)
    return isinstance(value, (bool, int, float)) and isfinite(value)


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
