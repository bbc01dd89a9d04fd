"""Owns drawing resamples with numpy, quickly and in bounded memory.

Knows nothing of intervals.
"""

from array import array

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Draws at a time: with the index and the value of each a block takes 4 MB, and stays in the processor's cache.
_BLOCK_DRAWS = 1 << 18
# Drawing how often one distinct unit occurs takes as long as drawing this many single units (measured on numpy 2.4).
_DRAWS_PER_COUNT = 16


def resampled_means(sums: "array[float]", counts: "array[float]", resamples: int, seed: int) -> Floats:
    """The ratio sum(sums) / sum(counts) on each resample of the units, drawn with replacement.

    Args:
        sums: the sum of each unit's values; at least one unit.
        counts: how many values each unit holds, above 0.
        resamples: how many resamples to draw.
        seed: seed of the draws; the same units in any order give the same ratios.

    Returns:
        One ratio a resample.
    """
    unit_sums, unit_counts = np.asarray(sums), np.asarray(counts)
    order = np.lexsort((unit_counts, unit_sums))
    unit_sums, unit_counts = unit_sums[order], unit_counts[order]
    mean = float(unit_sums.sum() / unit_counts.sum())
    # Deviations in place of the sums keep the digits in which values far from zero differ.
    deviations = unit_sums - mean * unit_counts
    starts = np.flatnonzero(np.r_[True, (np.diff(unit_sums) != 0) | (np.diff(unit_counts) != 0)])
    rng = np.random.default_rng(seed)
    if len(starts) * _DRAWS_PER_COUNT < len(order):
        occurrences = np.diff(np.r_[starts, len(order)])
        totals = _from_occurrences(deviations[starts], unit_counts[starts], occurrences, resamples, rng)
    else:
        totals = _from_draws(deviations, unit_counts, resamples, rng)
    # Rounding must not carry a ratio past those of the units: a share stays within 0 and 1.
    ratios = unit_sums / unit_counts
    return np.clip(mean + totals[0] / totals[1], ratios.min(), ratios.max())


def _from_occurrences(
    deviations: Floats, counts: Floats, occurrences: NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Total deviation and count of each resample, drawn as how often each distinct unit occurs in it."""
    units = int(occurrences.sum())
    rows = max(1, _BLOCK_DRAWS // len(occurrences))
    total_deviations, total_counts = np.empty(resamples), np.empty(resamples)
    for start in range(0, resamples, rows):
        block = slice(start, min(start + rows, resamples))
        drawn = rng.multinomial(units, occurrences / units, size=block.stop - start).astype(np.float64)
        total_deviations[block] = drawn @ deviations
        total_counts[block] = drawn @ counts
    return total_deviations, total_counts


def _from_draws(deviations: Floats, counts: Floats, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Total deviation and count of each resample, drawn unit by unit."""
    units = len(counts)
    alike = bool(counts[0] == counts.min() == counts.max())
    total_deviations = np.zeros(resamples)
    total_counts = np.full(resamples, units * counts[0] if alike else 0.0)
    rows = max(1, _BLOCK_DRAWS // units)
    for start in range(0, resamples, rows):
        block = slice(start, min(start + rows, resamples))
        for done in range(0, units, _BLOCK_DRAWS):
            shape = (block.stop - start, min(_BLOCK_DRAWS, units - done))
            picks = rng.integers(0, units, size=shape)
            total_deviations[block] += deviations[picks].sum(axis=1)
            if not alike:
                total_counts[block] += counts[picks].sum(axis=1)
    return total_deviations, total_counts
