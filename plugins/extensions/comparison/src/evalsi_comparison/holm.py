"""Owns the correction for looking at several metrics at once.

It must not know a metric.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: those below alpha hold together, with a chance of alpha that any of them is false.

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
