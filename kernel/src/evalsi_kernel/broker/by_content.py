"""Work on plain values that is done once for equal ones: an evaluator sends the same schema with each of its questions.

It must not know what the work is.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

MOST: Final = 256
"""So many values are remembered; then it begins anew."""
MOST_BYTES: Final = 64 * 1024
"""A larger value is worked on each time."""
# Later ones write equal values in more than one way.
_VERSION: Final = 2

Value = TypeVar("Value")
Result = TypeVar("Result")


def once_by_content(work: Callable[[Value], Result]) -> Callable[[Value], Result]:
    """The same work, with its result remembered by what the value holds; what it raises is not.

    Values of other types are never taken for one another, as 1, 1.0 and True are by a dict. What is no plain value, as
    JSON is, or is nested very deep, is worked on each time.

    Args:
        work: takes a value that it does not change, and gives what nobody changes.
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
