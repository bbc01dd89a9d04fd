"""Owns how many records it would take to find a change of a given size.

It must not know a metric.
"""

from __future__ import annotations

import math

from evalsi_kernel.scores.student_t import z_critical

POWER = 0.8
"""The chance of finding a change that is there."""


def records_for_verdicts(changed: int, n: int, change: float, level: float) -> int | None:
    """How many records McNemar's test needs to find a change of a share.

    Args:
        changed: how many of the pairs changed, in either way.
        n: how many pairs there are.
        change: of the share, above 0, such as 0.02 for two points.
        level: confidence level; 1 - level is the chance of finding a change that is not there.

    Returns:
        The number of records, or None where no pair changed, which tells nothing of how often they would.

    Source: Connor, Sample size for testing differences in proportions for the paired-sample design, Biometrics 43
    (1987), its formula (1) with the share of changed pairs as observed.
    """
    if not changed:
        return None
    # A change of the share needs at least as many pairs that change.
    share = max(changed / n, change)
    found = z_critical(level) * math.sqrt(share) + z_critical(2 * POWER - 1) * math.sqrt(share - change * change)
    return math.ceil(found * found / (change * change))


def records_for_numbers(standard_error: float, n: int, change: float, level: float) -> int | None:
    """How many records a paired t test needs to find a change of a mean.

    Args:
        standard_error: of the mean difference over the n records, clustering included.
        n: how many records there are.
        change: of the mean, above 0, in its unit.
        level: as of `records_for_verdicts`.

    Returns:
        The number of records, or None where the difference has no spread.

    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), section 2.4, in its normal
    approximation: (z_alpha/2 + z_beta)² variance / change², where variance = n standard_error².
    """
    if not standard_error > 0:
        return None
    found = (z_critical(level) + z_critical(2 * POWER - 1)) * standard_error / change
    return max(2, math.ceil(n * found * found))
