"""The keyword of JSON Schema that divides, with numbers as they are written: 19.99 is a multiple of 0.01.

It must not know records. jsonschema's own divides floats, of which 19.99 / 0.01 is 1998.9999999999998.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any


def multiples_of(dialect: Any) -> dict[str, Any]:
    """The keyword under the name that the dialect has for it, as `jsonschema.validators.extend` takes it."""
    return {name: _multiple_of for name in ("multipleOf", "divisibleBy") if name in dialect.VALIDATORS}


def _multiple_of(validator: Any, divisor: float, instance: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "number"):
        return
    if isinstance(divisor, int) and isinstance(instance, int):
        fits = instance % divisor == 0
    else:
        fits = (_as_written(instance) / _as_written(divisor)).denominator == 1
    if not fits:
        from jsonschema.exceptions import ValidationError  # Loaded by those who validate with it.

        yield ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _as_written(number: float) -> Fraction:
    """The decimal that a float was written as: the shortest that gives it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
