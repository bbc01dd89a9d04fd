"""Owns McNemar's test: whether pairs of verdicts changed more often one way than the other.

It must not know what passed, nor an interval.
"""

from __future__ import annotations

import math

# A term this much smaller than the sum so far, and all after it, change no digit.
_NEGLIGIBLE = 1e-18


def mcnemar_midp(lost: int, won: int) -> float:
    """The two-sided mid-p value of McNemar's test; 1 where nothing changed.

    Args:
        lost: how many pairs passed first and then failed, 0 or more.
        won: how many failed first and then passed, 0 or more.

    Returns:
        The chance, from 0 to 1, of changes more uneven than these, and half that of as uneven ones, if either way is as
        likely.

    Source: Fagerland, Lydersen & Laake, The McNemar test for binary matched-pairs data: mid-p and asymptotic are better
    than exact conditional, BMC Medical Research Methodology 13:91 (2013).
    """
    changed, fewer = lost + won, min(lost, won)
    if not changed:
        return 1.0
    term = math.exp(
        math.lgamma(changed + 1) - math.lgamma(fewer + 1) - math.lgamma(changed - fewer + 1) - changed * math.log(2.0)
    )
    tail, at = term / 2, fewer
    while at and term > tail * _NEGLIGIBLE:
        term *= at / (changed - at + 1)
        tail += term
        at -= 1
    return min(1.0, 2 * tail)
