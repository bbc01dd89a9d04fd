"""Is the last number of the output the last number of the reference.

How a number is read is told in `numbers`; this holds only what to compare and how near.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Annotated, Any

from evalsi import Content, Output, Param, Record, Score, Skip, evaluator
from evalsi_pack_core.violations import shortened, travelling

MAX_TOKEN = 40


@evaluator(
    name="numeric-match",
    version=2,
    needs=("output", "reference"),
    outputs=[Output(kind="pass")],
)
class NumericMatch:
    """The last number of the output is the last number of the reference, within tolerance."""

    def __init__(
        self,
        *,
        rel_tol: Annotated[float, Param(description="tolerance relative to the larger number", minimum=0)] = 1e-6,
        abs_tol: Annotated[float, Param(description="tolerance near zero", minimum=0)] = 1e-9,
    ) -> None:
        # Its patterns take milliseconds that only its users pay.
        from evalsi_pack_core.numbers import UnreadableNumber, last_number

        self._last_number = last_number
        self._unreadable = UnreadableNumber
        self._rel_tol = rel_tol
        self._abs_tol = abs_tol

    def score(self, record: Record) -> bool | Score:
        """Whether it is; an output without a readable number fails, a reference without one skips the record."""
        expected = self._expected(record)
        text = _text_of(record.output)
        try:
            # An output that says what a reference says is not read again.
            found = expected[text] if text in expected else self._last_number(text)
        except self._unreadable as error:
            return Score(
                passed=False, explanation=f"The last number of the output cannot be read: {_shown(error.token)}."
            )
        if found is None:
            return Score(passed=False, explanation="The output has no number.")
        numbers = expected.values()
        return found in numbers or any(self._is_near(found, number) for number in numbers)

    def _expected(self, record: Record) -> dict[str, float]:
        """The references' numbers, each by its text; skips the record where none can be read."""
        numbers = {}
        reason = "reference has no number"
        for reference in record.references:
            text = _text_of(reference)
            try:
                number = self._last_number(text)
            except self._unreadable as error:
                reason = f"the last number of the reference cannot be read: {_shown(error.token)}"
            else:
                if number is not None:
                    numbers[text] = number
        if not numbers:
            raise Skip(reason)
        return numbers

    def _is_near(self, found: float, number: float) -> bool:
        if not self._rel_tol and not self._abs_tol:
            # Of whole numbers beyond a float's digits, isclose() would see the float.
            return False
        return isclose(found, number, rel_tol=self._rel_tol, abs_tol=self._abs_tol)


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
