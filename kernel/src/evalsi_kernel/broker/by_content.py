"""Memoize functions by the content of a plain value, such as the schema that an evaluator sends with every question."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

MOST: Final = 256
"""Maximum number of remembered values; the memory is cleared when it is full."""
MOST_BYTES: Final = 64 * 1024
"""Larger values are never remembered."""
# Later versions of the format may serialize equal values differently.
_VERSION: Final = 2

Value = TypeVar("Value")
Result = TypeVar("Result")


def once_by_content(work: Callable[[Value], Result]) -> Callable[[Value], Result]:
    """Memoize a function by the content of its argument; exceptions are not remembered.

    Values of different types are distinct, unlike 1, 1.0 and True as keys of a dict. Values that `marshal` cannot
    serialize, or that are nested too deep, are computed each time.

    Args:
        work: must not change its argument; callers must not change its result.
    """
    known: dict[bytes, Result] = {}

    @wraps(work)
    def remembering(value: Value) -> Result:
        try:
            content = marshal.dumps(value, _VERSION)  # type: ignore[arg-type]  # what is none of its types raises
        except ValueError:
            return work(value)
        if content in known:
            return known[content]
        result = work(value)
        if len(content) <= MOST_BYTES:
            if len(known) >= MOST:
                known.clear()
            known[content] = result
        return result

    return remembering
