"""Scores and skips that an evaluator returns or raises.

Numbers that are not finite are rejected here, so that they never enter a mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

SCORED = "scored"
SKIPPED = "skipped"
ERROR = "error"

Bare = tuple[tuple[str, ...], type, list[bool | float]]
"""Names, kind and values of verdicts of one kind: several, or one with a name."""

_EXPECTED = "return a Score, a list of Scores, a bool, a number or a string, or raise evalsi.Skip"


class Skip(Exception):
    """Raise it in an evaluator to skip a record that lacks what it needs. The message is the reason."""


class MissingField(Skip):
    """The record lacks a field."""

    def __init__(self, field: str) -> None:
        super().__init__(f"record has no {field}")
        self.field = field


class ScoreError(ValueError):
    """An evaluator returned something that is not a valid score. `hint` says what to do."""

    hint = "Return a Score with a finite value."


class Score:
    """One immutable verdict: exactly one of `value`, `passed` and `label`.

    Scalars of numpy, torch and jax are accepted. If `value` is NaN or infinite, the metric becomes an error; other
    scores that the evaluator returns are kept.

    Args:
        name: name of the metric; None means the evaluator's name.
        value: a number, normally finite.
        passed: whether the record passed.
        label: a class, such as "refusal".
        explanation: one sentence for readers.
        confidence: confidence of the evaluator, from 0 to 1.
        metadata: additional JSON data, kept in the results.
        cost_usd: cost of this score, in US dollars.

    Raises:
        ScoreError: not exactly one verdict is given, or an argument has the wrong type.
    """

    __slots__ = ("_wire",)

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
        wire: dict[str, Any]
        if passed is not None and value is None and label is None:
            wire = {"passed": passed if passed is True or passed is False else _truth(passed)}
        elif value is not None and passed is None and label is None:
            number = value if type(value) is float else _number(value, "value")
            wire = {"value": number} if isfinite(number) else {"error": _not_finite("value", number)}
        elif label is not None and passed is None and value is None:
            wire = {"label": _text("label", label)}
        else:
            raise ScoreError("A Score needs exactly one of value, passed and label.")
        # An empty name counts as none, as in a declared output.
        if name is not None and (name := name if type(name) is str else _text("name", name)):
            wire["name"] = name
        if explanation is not None:
            wire["explanation"] = _text("explanation", explanation)
        if confidence is not None:
            wire["confidence"] = _share("confidence", confidence)
        if metadata is not None:
            if not isinstance(metadata, dict):
                raise ScoreError(f"metadata is {shown(metadata)}, which is not a dict.")
            wire["metadata"] = metadata
        if cost_usd is not None:
            wire["cost_usd"] = finite(cost_usd, "cost_usd")
        self._wire = wire

    @property
    def name(self) -> str | None:
        """Name of the metric; None means the evaluator's name."""
        return self._wire.get("name")

    @property
    def value(self) -> float | None:
        """The number; None for another verdict."""
        return self._wire.get("value")

    @property
    def passed(self) -> bool | None:
        """Whether the record passed; None for another verdict."""
        return self._wire.get("passed")

    @property
    def label(self) -> str | None:
        """The class; None for another verdict."""
        return self._wire.get("label")

    @property
    def error(self) -> str | None:
        """The error message if the number is not finite, else None."""
        return self._wire.get("error")

    @property
    def explanation(self) -> str | None:
        """One sentence for readers, or None."""
        return self._wire.get("explanation")

    @property
    def confidence(self) -> float | None:
        """Confidence of the evaluator, from 0 to 1, or None."""
        return self._wire.get("confidence")

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Additional JSON data, or None."""
        return self._wire.get("metadata")

    @property
    def cost_usd(self) -> float | None:
        """Cost of this score, in US dollars, or None."""
        return self._wire.get("cost_usd")

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form of the score, without absent parts."""
        return dict(self._wire)

    def __repr__(self) -> str:
        return f"Score({', '.join(f'{key}={part!r}' for key, part in self._wire.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Score) and self._wire == other._wire

    __hash__ = None  # type: ignore[assignment]


def finite(value: Any, what: str = "value") -> float:
    """Return a value as a float if it is a finite number.

    Args:
        value: a number of Python, numpy, torch or jax.
        what: name of the value, for the error.

    Raises:
        ScoreError: the value is a bool, not a number, NaN or infinite.
    """
    number = value if type(value) is float else _number(value, what)
    if not isfinite(number):
        raise ScoreError(_not_finite(what, number))
    return number


def score_of_wire(wire: dict[str, Any]) -> Score:
    """Return the score for a wire form, which may be an error."""
    error = wire.get("error")
    if error is None:
        return Score(**wire)
    score = Score(name=wire.get("name"), value=0.0)
    del score._wire["value"]
    score._wire["error"] = error["message"] if isinstance(error, dict) else str(error)
    return score


def scores_of(result: Any) -> list[dict[str, Any]]:
    """Return the wire forms of an evaluator's result.

    A score that is not finite has an `error` in place of its verdict, as long as another score is valid.

    Raises:
        ScoreError: the result is None, is not a score, or has no finite score.
    """
    if type(result) is Score:
        return _with_a_verdict([result._wire])
    if result is True or result is False:
        return [{"passed": result}]
    if type(result) is float:
        return [{"value": finite(result)}]
    if isinstance(result, str):
        return [{"label": _text("label", result)}]
    if isinstance(result, (list, tuple)):
        return _wires(result)
    if isinstance(result, Score):
        return _with_a_verdict([result._wire])
    if result is None:
        raise ScoreError(f"The evaluator returned None; {_EXPECTED}.")
    plain = _plain(result)
    if isinstance(plain, bool):
        return [{"passed": plain}]
    if not hasattr(plain, "__float__"):
        raise _no_score(result)
    return [{"value": finite(plain)}]


def bare_verdicts(result: Any) -> Bare | bool | float | None:
    """Return only the verdicts, if a result is scores of one kind with nothing but verdict and name; else None.

    Raises:
        ScoreError: the result is an integer too large for a float.
    """
    if type(result) is int:
        return finite(result)
    names: list[str] = []
    verdicts: list[bool | float] = []
    for score in (result,) if type(result) is Score else result if type(result) is list else ():
        wire = score._wire if type(score) is Score else {}
        if len(wire) == 2 and "name" in wire:
            verdict, name = wire.values()  # A Score inserts the verdict first.
        elif len(wire) == 1:
            (verdict,), name = wire.values(), ""
        else:
            return None
        names.append(name)
        verdicts.append(verdict)
    kinds: set[type] = {*map(type, verdicts)}
    if len(kinds) != 1 or not kinds <= {bool, float} or len({*names}) < len(names):
        return None
    return verdicts[0] if names == [""] else ((*names,), kinds.pop(), verdicts)


def _wires(scores: Sequence[Any]) -> list[dict[str, Any]]:
    if not scores:
        raise ScoreError("The evaluator returned an empty list; return a Score or raise evalsi.Skip.")
    wires = []
    names = set()
    for score in scores:
        if not isinstance(score, Score):
            raise ScoreError(f"The evaluator returned a list with {shown(score)}, which is not a Score.")
        wires.append(score._wire)
        names.add(score._wire.get("name"))
    if len(names) < len(wires):
        raise ScoreError("The evaluator returned two scores with the same name; give each its own.")
    return _with_a_verdict(wires)


def _with_a_verdict(wires: list[dict[str, Any]]) -> list[dict[str, Any]]:
    errors = [wire["error"] for wire in wires if "error" in wire]
    if len(errors) == len(wires):
        raise ScoreError(errors[0])
    return wires


def _not_finite(what: str, number: float) -> str:
    return f"{what} is {number}, which is not a finite number."


def _no_score(result: Any) -> ScoreError:
    if hasattr(result, "__await__"):
        # Close the coroutine to avoid Python's "never awaited" warning, since this error is clearer.
        getattr(result, "close", lambda: None)()
        return ScoreError("The evaluator returned something to await; write it as `async def`.")
    if isinstance(getattr(result, "score", None), (int, float)):
        # The result of another tool, such as autoevals.
        return ScoreError(f"The evaluator returned {shown(result)}, which is not an evalsi.Score; return its .score.")
    return ScoreError(f"The evaluator returned {shown(result)}, which is not a score; {_EXPECTED}.")


def _number(value: Any, what: str) -> float:
    plain = _plain(value)
    if isinstance(plain, bool):
        raise ScoreError(f"{what} is {plain}, which is not a number; a pass or fail goes into passed.")
    if isinstance(plain, (str, bytes)):
        raise ScoreError(f"{what} is {shown(plain)}, which is not a number.")
    try:
        return float(plain)
    except OverflowError:
        raise ScoreError(f"{what} is an integer too large for a float.") from None
    except (TypeError, ValueError):
        raise ScoreError(f"{what} is {shown(plain)}, which is not a number.") from None


def _truth(value: Any) -> bool:
    plain = _plain(value)
    if isinstance(plain, bool):
        return plain
    raise ScoreError(f"passed is {shown(value)}, which is not True or False.")


def _text(what: str, value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, str):
        # For a string enum this returns the value, where str() would return the name.
        return str.__str__(value)
    raise ScoreError(f"{what} is {shown(value)}, which is not text.")


def _share(what: str, value: Any) -> float:
    number = finite(value, what)
    if not 0 <= number <= 1:
        raise ScoreError(f"{what} is {number}; it must be between 0 and 1.")
    return number


def _plain(value: Any) -> Any:
    """Return the Python value of a numpy, torch or jax scalar; return any other value unchanged."""
    if not hasattr(value, "dtype"):
        return value
    try:
        return value.item()
    except (AttributeError, RuntimeError, TypeError, ValueError):
        # The libraries raise different exceptions for arrays with several elements.
        return value


def shown(value: Any) -> str:
    """Return the repr of a value for an error message, at most 80 characters."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 -- a foreign repr may raise anything, and int's raises for very long integers.
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"
