"""Owns which rows a person should look at first: those that failed most, then those that scored lowest.

It must not know texts. A row without any score is not low: it is an error or skipped, and counted apart.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from heapq import nsmallest
from math import isnan

from .columns import Rows
from .metrics import Metric

# A failed check weighs more than any number below its best.
_FAILED = 10.0


def badness(metrics: Sequence[Metric], rows: int, gated: Collection[str] = ()) -> array[float]:
    """How bad each row is: 0 where nothing is, and where nothing was scored.

    A failed check counts 10, a number its distance from the best in the range that it is drawn on, from 0 to 1. What
    counts twice are the metrics in `gated`: those whose gates did not pass.
    """
    found = array("d", bytes(8 * rows))
    for metric in metrics:
        column = metric.column
        if column is None or not metric.is_quality:
            continue
        is_pass = metric.is_check
        low, high = metric.span
        weight = 2.0 if metric.name in gated else 1.0
        for row in range(rows):
            value = column[row]
            if not isnan(value):
                if is_pass:
                    found[row] += 0.0 if value else weight * _FAILED
                else:
                    distance = high - value if metric.higher_is_better else value - low
                    found[row] += weight * distance / (high - low)
    return found


def order(bad: Sequence[float]) -> list[int]:
    """All rows, the worst first, of equal ones in the order of the data."""
    return sorted(range(len(bad)), key=lambda row: -bad[row])


def worst(bad: Sequence[float], rows: Rows, count: int) -> list[int]:
    """The worst rows that are bad at all, one a record: of its trials the worst, of equal ones the first."""
    chosen: list[int] = []
    seen: set[str] = set()
    # Few records fill more than this many trials; where they do, fewer are shown.
    for row in nsmallest(count * 32, range(len(bad)), key=lambda row: -bad[row]):
        if len(chosen) == count or bad[row] <= 0:
            break
        if rows.ids[row] not in seen:
            seen.add(rows.ids[row])
            chosen.append(row)
    return chosen
