"""Outcomes as the body of an `item` event: as a run where all are plain verdicts, else one item each.

It must not know where outcomes come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

SHAPES = {
    shape: shape - {"name"} for key in ("passed", "value") for shape in (frozenset({key}), frozenset({"name", key}))
}
"""The keys of a score that has nothing beside its verdict and perhaps a name, and those keys without the name."""
KINDS: dict[str, frozenset[type]] = {"passed": frozenset({bool}), "value": frozenset({float, int})}


def body_of(
    request: int, session: int, places: Sequence[int], outcomes: Sequence[list[Any]], *, takes_runs: bool
) -> dict[str, Any]:
    """The body that tells these outcomes of the records at these places; one that stands alone may tell its time."""
    if takes_runs and len(outcomes) > 1 and places[-1] - places[0] == len(places) - 1:
        columns = _columns(outcomes)
        if columns is not None:
            return {"request": request, "items": [], "runs": [[session, places[0], columns]]}
    items = [[session, place, *outcome] for place, outcome in zip(places, outcomes, strict=True)]
    return {"request": request, "items": items}


def _columns(outcomes: Sequence[list[Any]]) -> list[list[Any]] | None:
    """One column a score, or None where one of them has more to say than the others."""
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
