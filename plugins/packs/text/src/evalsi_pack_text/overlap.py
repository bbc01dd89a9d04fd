"""Overlap of two sequences as multisets, and the F1 that is made of it.

It must not know what the elements are.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many elements both have, each counted as often as the poorer side has it."""
    once = set(right)
    if len(once) == len(right):
        return len(once.intersection(left))
    # For the few words of an answer quicker than two Counters.
    left_over: dict[Hashable, int] = {}
    for element in right:
        left_over[element] = left_over.get(element, 0) + 1
    found = 0
    for element in left:
        count = left_over.get(element)
        if count:
            left_over[element] = count - 1
            found += 1
    return found


def f1(overlap: int, left_size: int, right_size: int) -> float:
    """The harmonic mean of overlap/left and overlap/right; 0.0 where nothing overlaps."""
    return 2 * overlap / (left_size + right_size) if overlap else 0.0
