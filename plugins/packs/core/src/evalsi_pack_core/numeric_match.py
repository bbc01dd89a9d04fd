"""Is the last number of the output the last number of the reference.

`numbers` says how a number is read; this module compares exact values, without rounding to floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from evalsi import Content, Output, Param, Record, Score, Skip, evaluator
from evalsi_pack_core.violations import shortened, travelling

if TYPE_CHECKING:
    from evalsi_pack_core.numbers import Figure

MAX_TOKEN = 40


@evaluator(
    name="numeric-match",
    version=3,
    needs=("output", "reference"),
    outputs=[Output(kind="pass")],
)
class NumericMatch:
    """The last number of the output is the last number of the reference, within tolerance."""

    def __init__(
        self,
        *,
        rel_tol: Annotated[float, Param(description="tolerance relative to the larger number", minimum=0)] = 1e-6,
        abs_tol: Annotated[
            float, Param(description="absolute tolerance, such as for numbers near zero", minimum=0)
        ] = 0.0,
    ) -> None:
        # Its patterns take milliseconds that only its users pay.
        from evalsi_pack_core.numbers import UnreadableNumber, last_figure

        self._last_figure = last_figure
        self._unreadable = UnreadableNumber
        # As they are written: the float 1e-6 is a little less than a millionth.
        self._rel_tol = Fraction(repr(rel_tol))
        self._abs_tol = Fraction(repr(abs_tol))
        self._is_exact = not rel_tol and not abs_tol

    def score(self, record: Record) -> bool | Score:
        """Whether it is; an output without a readable number fails, a reference without one skips the record."""
        expected = self._expected(record)
        text = _text_of(record.output)
        try:
            # An output that says what a reference says is not read again.
            found = expected[text] if text in expected else self._last_figure(text)
        except self._unreadable as error:
            return Score(
                passed=False, explanation=f"The last number of the output cannot be read: {_shown(error.token)}."
            )
        if found is None:
            return Score(passed=False, explanation="The output has no number.")
        numbers = expected.values()
        return found in numbers or any(self._matches(found, number) for number in numbers)

    def _expected(self, record: Record) -> dict[str, Figure]:
        """Return the references' numbers, each by its text; skips the record where none can be read."""
        numbers: dict[str, Figure] = {}
        reason = "reference has no number"
        for reference in record.references:
            text = _text_of(reference)
            try:
                number = self._last_figure(text)
            except self._unreadable as error:
                reason = f"the last number of the reference cannot be read: {_shown(error.token)}"
            else:
                if number is not None:
                    numbers[text] = number
        if not numbers:
            raise Skip(reason)
        return numbers

    def _matches(self, found: Figure, number: Figure) -> bool:
        """Return whether two numbers are near; 35% is 0.35, and 35 where the sign was left out as a unit."""
        if self._is_near(found.value, number.value):
            return True
        if found.is_percent is number.is_percent:
            return False
        left, right = (Fraction(one.value, 100) if one.is_percent else one.value for one in (found, number))
        return self._is_near(left, right)

    def _is_near(self, left: int | Fraction, right: int | Fraction) -> bool:
        if self._is_exact or left == right:
            return left == right
        one, other = Fraction(left), Fraction(right)
        return abs(one - other) <= max(self._rel_tol * max(abs(one), abs(other)), self._abs_tol)


def _text_of(content: Content) -> str:
    """The text; of JSON its texts and numbers in their order, kept apart as the compact [1,234] would not."""
    wire = content.wire
    if type(wire) is str:
        return wire
    return content.as_text() if isinstance(wire.get("json", ""), str) else " ; ".join(_leaves(wire["json"]))


def _leaves(value: Any) -> Iterator[str]:
    """What a JSON value says, unescaped; the names of its fields, true, false and null are no part of it."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending += reversed(one.values())
        elif isinstance(one, list):
            pending += reversed(one)
        elif isinstance(one, str):
            yield one
        elif one is not None and not isinstance(one, bool):
            yield repr(one)


def _shown(token: str) -> str:
    return travelling(shortened(token, MAX_TOKEN))
