"""What an evaluator gives back: scores, or that it has none to give.

A number that is not finite is refused here, at the border, so that it never reaches a mean. It must not know the wire's
frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

SCORED = "scored"
SKIPPED = "skipped"
ERROR = "error"

Bare = tuple[tuple[str, ...], type, list[bool | float]]
"""Verdicts of one kind, several or one that has a name: the name of each, the kind, and they themselves."""

_EXPECTED = "return a Score, a list of Scores, a bool, a number or a text, or raise evalsi.Skip"


class Skip(Exception):
    """Raised by an evaluator when a record lacks what it needs; the record is skipped, with this reason."""


class MissingField(Skip):
    """The record has no such field."""

    def __init__(self, field: str) -> None:
        super().__init__(f"record has no {field}")
        self.field = field


class ScoreError(ValueError):
    """What an evaluator returned is not a score; `hint` says what to do."""

    hint = "Return a Score with a finite value."


class Score:
    """One verdict: exactly one of a number, a pass or fail, or a label. It cannot be changed once it is made.

    The scalars of numpy, torch and jax count as Python's own.

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
        ScoreError: none or several of the three were given, or a part has the wrong type.

    A `value` that is NaN or infinite is no score: the metric is then an error, and the other scores that an evaluator
    returns beside it stand.
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
        # An empty name is no name, as in a declared output.
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
        """Of the metric; None means the evaluator's own name."""
        return self._wire.get("name")

    @property
    def value(self) -> float | None:
        """The number, where the verdict is one."""
        return self._wire.get("value")

    @property
    def passed(self) -> bool | None:
        """Whether the record passed, where the verdict is that."""
        return self._wire.get("passed")

    @property
    def label(self) -> str | None:
        """The class, where the verdict is one."""
        return self._wire.get("label")

    @property
    def error(self) -> str | None:
        """Why this is no score, where its number is not finite."""
        return self._wire.get("error")

    @property
    def explanation(self) -> str | None:
        """One sentence for a person."""
        return self._wire.get("explanation")

    @property
    def confidence(self) -> float | None:
        """0 to 1, how sure the evaluator is."""
        return self._wire.get("confidence")

    @property
    def metadata(self) -> dict[str, Any] | None:
        """JSON that travels along."""
        return self._wire.get("metadata")

    @property
    def cost_usd(self) -> float | None:
        """What this score cost, in US dollars."""
        return self._wire.get("cost_usd")

    def to_wire(self) -> dict[str, Any]:
        """The map that travels in an item; absent parts are left out."""
        return dict(self._wire)

    def __repr__(self) -> str:
        return f"Score({', '.join(f'{key}={part!r}' for key, part in self._wire.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Score) and self._wire == other._wire

    __hash__ = None  # type: ignore[assignment]


def finite(value: Any, what: str = "value") -> float:
    """The number itself, when it is one and finite.

    Args:
        value: a number, of Python or of a library.
        what: names it in the error.

    Raises:
        ScoreError: the value is a bool, no number, NaN or infinite.
    """
    number = value if type(value) is float else _number(value, what)
    if not isfinite(number):
        raise ScoreError(_not_finite(what, number))
    return number


def score_of_wire(wire: dict[str, Any]) -> Score:
    """The score that a map of the wire stands for, also of one that is an error."""
    error = wire.get("error")
    if error is None:
        return Score(**wire)
    score = Score(name=wire.get("name"), value=0.0)
    del score._wire["value"]
    score._wire["error"] = error["message"] if isinstance(error, dict) else str(error)
    return score


def scores_of(result: Any) -> list[dict[str, Any]]:
    """The wire form of whatever an evaluator returned.

    A score among others that has an `error` in place of its verdict costs no other score.

    Raises:
        ScoreError: nothing was returned, something that is no score, or no score that is finite.
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
    """The verdicts alone, where a result is scores of one kind that hold nothing beside them but names; else None.

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
            verdict, name = wire.values()  # In the order in which a Score puts them in.
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
        raise ScoreError("The evaluator returned two scores of one name; give each its own.")
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
        # Python warns of a coroutine that nobody awaited; this sentence says more.
        getattr(result, "close", lambda: None)()
        return ScoreError("The evaluator returned something to await; write it as `async def`.")
    if isinstance(getattr(result, "score", None), (int, float)):
        # As autoevals' and other tools' results are.
        return ScoreError(f"The evaluator returned {shown(result)}, which is no Score of evalsi; return its .score.")
    return ScoreError(f"The evaluator returned {shown(result)}, which is no score; {_EXPECTED}.")


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
        # Of a text-like enum its value, where str() would give its name.
        return str.__str__(value)
    raise ScoreError(f"{what} is {shown(value)}, which is not text.")


def _share(what: str, value: Any) -> float:
    number = finite(value, what)
    if not 0 <= number <= 1:
        raise ScoreError(f"{what} is {number}; it goes from 0 to 1.")
    return number


def _plain(value: Any) -> Any:
    """The Python object that a scalar of numpy, torch or jax holds; all else as it is."""
    if not hasattr(value, "dtype"):
        return value
    try:
        return value.item()
    except (AttributeError, RuntimeError, TypeError, ValueError):
        # Each library has its own exception for an array that holds more than one.
        return value


def shown(value: Any) -> str:
    """A value as an error names it, never too long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 -- a stranger's repr may raise anything, and Python's own does for a very long integer.
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"
