"""Owns what a value of a file is taken for where another kind may stand: a number, a count, a text, an object, objects.

A file may be made by hand or by another version; what does not fit is taken for absent. It must not know any key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]
# Beyond it a number is no measurement, and its square would be none at all.
_MOST = 1e100


def number(value: Any) -> float | None:
    """A finite number; None for anything else, also for true and false."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and -_MOST < value < _MOST else None


def count(value: Any) -> int:
    """A whole number from 0 on; 0 for anything else."""
    return value if type(value) is int and 0 <= value < _MOST else 0


def known_count(value: Any) -> int | None:
    """A whole number from 0 on; None for anything else."""
    return value if type(value) is int and 0 <= value < _MOST else None


def text(value: Any) -> str:
    """A text; "" for anything else."""
    return value if isinstance(value, str) else ""


def one_object(value: Any) -> Object:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[Object]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
