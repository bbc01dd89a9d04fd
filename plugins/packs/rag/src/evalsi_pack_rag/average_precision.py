"""Average precision of a ranking: the mean, over the ranks that hold something relevant, of the precision up to there.

Manning, Raghavan, Schütze (2008), "Introduction to Information Retrieval", 8.4, with what was retrieved as the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum


def average_precision(relevant: Sequence[bool]) -> float:
    """From 0 (nothing is relevant) to 1 (exactly: nothing irrelevant stands before anything relevant)."""
    ranks = [rank for rank, is_relevant in enumerate(relevant, 1) if is_relevant]
    if not ranks:
        return 0.0
    return fsum(found / rank for found, rank in enumerate(ranks, 1)) / len(ranks)
