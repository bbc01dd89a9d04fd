"""Totals of additive states under resampling with replacement.

With numpy in the pack's environment a million states take seconds; without it the same numbers come slower.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence


def additive_totals(states: Sequence[Sequence[float]], resamples: int, seed: int) -> Iterator[list[float]]:
    """The summed state of each resample; `states` is n rows of equal length, every total a row of that length."""
    try:
        import numpy
    except ImportError:
        generator = random.Random(seed)
        for _ in range(resamples):
            drawn = generator.choices(states, k=len(states))
            yield [sum(column) for column in zip(*drawn, strict=True)]
        return
    table = numpy.asarray(states, dtype=float)
    random_numbers = numpy.random.default_rng(seed)
    for _ in range(resamples):
        counts = numpy.bincount(random_numbers.integers(0, len(table), size=len(table)), minlength=len(table))
        yield [float(total) for total in counts @ table]
