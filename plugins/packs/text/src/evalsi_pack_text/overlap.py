"""Overlap of two sequences as multisets, and the F1 that is made of it.

It must not know what the elements are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many elements both have, each counted as often as the poorer side has it."""
    left_set, right_set = set(left), set(right)
    if len(left_set) == len(left) and len(right_set) == len(right):
        return len(left_set & right_set)
    return (Counter(left) & Counter(right)).total()


def f1(overlap: int, left_size: int, right_size: int) -> float:
    """The harmonic mean of overlap/left and overlap/right; 0.0 where nothing overlaps."""
    return 2 * overlap / (left_size + right_size) if overlap else 0.0
