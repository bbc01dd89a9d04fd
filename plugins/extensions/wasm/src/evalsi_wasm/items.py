"""Encode outcomes as the body of an `item` event: as a run if all are plain verdicts, else one item each."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

SHAPES = {
    shape: shape - {"name"} for key in ("passed", "value") for shape in (frozenset({key}), frozenset({"name", key}))
}
"""Key sets of scores that have only a verdict and optionally a name, each mapped to the key of its verdict."""
KINDS: dict[str, frozenset[type]] = {"passed": frozenset({bool}), "value": frozenset({float, int})}


def body_of(
    request: int, session: int, places: Sequence[int], outcomes: Sequence[list[Any]], *, takes_runs: bool
) -> dict[str, Any]:
    """Return the body for the outcomes of the records at these indices.

    An outcome may carry its duration as a third element only if it is sent as a single item.
    """
    if takes_runs and len(outcomes) > 1 and places[-1] - places[0] == len(places) - 1:
        columns = _columns(outcomes)
        if columns is not None:
            return {"request": request, "items": [], "runs": [[session, places[0], columns]]}
    items = [[session, place, *outcome] for place, outcome in zip(places, outcomes, strict=True)]
    return {"request": request, "items": items}


def _columns(outcomes: Sequence[list[Any]]) -> list[list[Any]] | None:
    """Return one column `[name, key, values]` per score; None if the outcomes do not all have the same plain scores."""
    payloads = [payload for kind, payload in outcomes if kind == "scored"]
    if len(payloads) < len(outcomes) or len(set(map(len, payloads))) != 1:
        return None
    columns = []
    for scores in zip(*payloads, strict=True):
        shapes = set(map(frozenset, scores))
        shape = shapes.pop()
        if shapes or shape not in SHAPES:
            return None
        (key,) = SHAPES[shape]
        names = {score.get("name", "") for score in scores}
        values = [score[key] for score in scores]
        if len(names) != 1 or not set(map(type, values)) <= KINDS[key] or not all(map(isfinite, values)):
            return None
        columns.append([names.pop(), key, values])
    return columns
