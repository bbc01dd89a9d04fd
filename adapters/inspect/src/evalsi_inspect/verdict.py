"""Convert a verdict of Inspect to a score: pass or fail, or a number as given by `value_to_float`.

A value that is not a grade is an error; Inspect would log a warning and count 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, value_to_float
from inspect_ai.scorer import Score as Verdict

from evalsi import Score

GRADES = (CORRECT, PARTIAL, INCORRECT, NOANSWER)
# Further words that value_to_float accepts.
_WORDS = ("yes", "no", "true", "false")
_to_float = value_to_float()


class NoGrade(ValueError):
    """The scorer ran and gave no grade."""


def score_of(verdict: Verdict | None, replies: Sequence[str] = (), *, is_yes_no: bool = False) -> Score:
    """Return the verdict as a score, with its grade, answer and reason in the metadata.

    Args:
        verdict: verdict of a scorer.
        replies: ids of the judge's replies behind it.
        is_yes_no: whether the verdict is correct or incorrect, with no number in between.

    Raises:
        NoGrade: the record is unscored, the value is neither a grade nor a number, or the scorer timed out.
    """
    if verdict is None:
        raise NoGrade("the scorer declined to score this record")
    status = (verdict.metadata or {}).get("math_scorer_status", "")
    # On a timeout Inspect marks the answer incorrect, but whether it times out depends on the machine.
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
