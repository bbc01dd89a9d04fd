"""What an evaluator gives back: scores, or that it has none to give.

A number that is not finite is refused here, at the border, so that it never reaches a mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

SCORED = "scored"
SKIPPED = "skipped"
ERROR = "error"


class Skip(Exception):
    """Raised by an evaluator when a record lacks what it needs; the record is skipped, with this reason."""


class MissingField(Skip):
    """The record has no such field."""

    def __init__(self, field: str) -> None:
        super().__init__(f"record has no {field}")
        self.field = field


class ScoreError(ValueError):
    """What an evaluator returned is not a score."""


class Score:
    """One verdict: exactly one of a number, a pass or fail, or a label.

    Args:
        name: of the metric; None means the evaluator's own name.
        value: a finite number.
        passed: whether the record passed.
        label: a class, such as "refusal".
        explanation: one sentence for a person.
        confidence: 0 to 1, how sure the evaluator is.
        metadata: JSON that travels along.
        cost_usd: what this score cost, in US dollars.

    Raises:
        ScoreError: none or several of the three were given, or the number is not finite.
    """

    __slots__ = ("confidence", "cost_usd", "explanation", "label", "metadata", "name", "passed", "value")

    def __init__(
        self,
        *,
        name: str | None = None,
        value: float | None = None,
        passed: bool | None = None,
        label: str | None = None,
        explanation: str | None = None,
        confidence: float | None = None,
        metadata: dict[str, Any] | None = None,
        cost_usd: float | None = None,
    ) -> None:
        if (value is not None) + (passed is not None) + (label is not None) != 1:
            raise ScoreError("A Score needs exactly one of value, passed and label.")
        if value is not None:
            value = finite(value)
        elif passed is not None and type(passed) is not bool:
            raise ScoreError(f"passed is {passed!r}, which is not True or False.")
        elif label is not None and not isinstance(label, str):
            raise ScoreError(f"label is {label!r}, which is not text.")
        if confidence is not None and not 0 <= confidence <= 1:
            raise ScoreError(f"confidence is {confidence!r}; it goes from 0 to 1.")
        self.name = name
        self.value = value
        self.passed = passed
        self.label = label
        self.explanation = explanation
        self.confidence = confidence
        self.metadata = metadata
        self.cost_usd = cost_usd

    def to_wire(self) -> dict[str, Any]:
        """The map that travels in an item; absent parts are left out."""
        wire: dict[str, Any] = {}
        for key in ("name", "value", "passed", "label", "explanation", "confidence", "metadata", "cost_usd"):
            part = getattr(self, key)
            if part is not None:
                wire[key] = part
        return wire

    def __repr__(self) -> str:
        return f"Score({', '.join(f'{key}={part!r}' for key, part in self.to_wire().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Score) and self.to_wire() == other.to_wire()

    __hash__ = None  # type: ignore[assignment]


def finite(value: Any) -> float:
    """The number itself, when it is one and finite.

    Raises:
        ScoreError: the value is a bool, no number, NaN or infinite.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        converted = _from_number_like(value)
        if converted is None:
            raise ScoreError(f"value is {value!r}, which is not a number.")
        value = converted
    try:
        number = float(value)
    except OverflowError:
        raise ScoreError("value is an integer too large for a float.") from None
    if not isfinite(number):
        raise ScoreError(f"value is {number}, which is not a finite number.")
    return number


def scores_of(result: Any) -> list[dict[str, Any]]:
    """The wire form of whatever an evaluator returned.

    Raises:
        ScoreError: nothing was returned, or something that is no score.
    """
    if result is True or result is False:
        return [{"passed": result}]
    if type(result) is Score:
        return [result.to_wire()]
    if isinstance(result, str):
        return [{"label": result}]
    if isinstance(result, (list, tuple)):
        if not result:
            raise ScoreError("The evaluator returned an empty list; return a Score or raise evalsi.Skip.")
        return [_named(score) for score in _scores(result)]
    if result is None:
        raise ScoreError("The evaluator returned None; return a Score or raise evalsi.Skip.")
    if isinstance(result, Score):
        return [result.to_wire()]
    if _is_numpy_bool(result):
        return [{"passed": bool(result)}]
    return [{"value": finite(result)}]


def _scores(result: Iterable[Any]) -> list[Score]:
    scores = list(result)
    for score in scores:
        if not isinstance(score, Score):
            raise ScoreError(f"The evaluator returned a list with {score!r}, which is not a Score.")
    names = [score.name for score in scores]
    if len(set(names)) < len(names):
        raise ScoreError("The evaluator returned two scores of one name; give each its own.")
    return scores


def _named(score: Score) -> dict[str, Any]:
    return score.to_wire()


def _is_numpy_bool(value: Any) -> bool:
    return type(value).__name__ in ("bool_", "bool") and type(value).__module__ == "numpy"


def _from_number_like(value: Any) -> float | None:
    """numpy's and pandas' scalars count as numbers; text and booleans do not."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__") or _is_numpy_bool(value):
        return None
    return float(value)
