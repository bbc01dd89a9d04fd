"""The check of the data before the first paid call: broken rows are found while they cost nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain

from evalsi_kernel.planning.plan import Plan
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.sources import Source, reopened
from evalsi_kernel.request import Request

AHEAD_RECORDS = 1_000
AHEAD_BYTES = 8 * 2**20
AHEAD_S = 2.0
"""Bounds of what is read ahead from data that can be read only once, such as a pipe."""


def asks_models(plan: Plan) -> bool:
    """Return whether an evaluator of the plan may ask a model."""
    return any(one.info.asks for one in plan.instances)


def check_all(request: Request, source: Source) -> bool:
    """Read all records once to check them; return False where the data can be read only once.

    Raises:
        DatasetError: rows cannot be records.
    """
    again = reopened(source)
    if again is None:
        return False
    for _ in Intake(again, request.mapping, request.limit, request.cluster_by).chunks():
        pass
    return True


def read_ahead(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield the same chunks, the first one only after those ahead of it have been read, within the bounds.

    Raises:
        DatasetError: rows cannot be records.
    """
    held: list[Chunk] = []
    records = size_bytes = 0
    end = time.monotonic() + AHEAD_S
    for chunk in chunks:
        held.append(chunk)
        records += len(chunk.ids)
        size_bytes += len(chunk.packed_array)
        if records >= AHEAD_RECORDS or size_bytes >= AHEAD_BYTES or time.monotonic() >= end:
            break
    held.reverse()
    # Each is let go of as it is given.
    yield from chain((held.pop() for _ in range(len(held))), chunks)
