"""Correct p-values for the number of tests (Holm)."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values.

    Rejecting those below alpha rejects any true null hypothesis with a probability of at most alpha.

    Args:
        p_values: of one test each, from 0 to 1, in any order.

    Returns:
        The adjusted values in the same order, each from its own p-value to 1.

    Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
