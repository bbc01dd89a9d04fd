"""The difference of two runs on the same records: its mean, its interval, and whether it can be chance.

It must not know runs or files. `evalsi compare` has more of such statistics; a gate needs these few.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from evalsi_kernel.gates.baseline import RecordValues
from evalsi_kernel.intervals import student_t
from evalsi_kernel.moments import Moments


class PairedDifference(NamedTuple):
    """Candidate minus baseline over the records that both scored.

    Args:
        difference: the mean difference.
        low, high: ends of its interval by Student's t; None where it is undefined.
        p_value: of the test of changes, where one decides; None where the interval does.
        is_significant: whether the difference is other than zero by more than chance.
        method: "t", "mcnemar-midp" or "sign-exact".
        pairs: records that both scored.
        won, lost: those of them whose value is greater, or less, in the candidate.
        base_only, cand_only: records that one of them scored alone.
    """

    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    is_significant: bool
    method: str
    pairs: int
    won: int
    lost: int
    base_only: int
    cand_only: int


def paired_difference(base: RecordValues, cand: RecordValues, level: float) -> PairedDifference | None:
    """Compare two runs record by record.

    Args:
        base: values of the baseline.
        cand: values of the candidate.
        level: confidence level, strictly between 0 and 1; a p-value below 1 - level is significant.

    Returns:
        The difference; None where no record was scored by both.

    Source: for one trial of pass/fail, McNemar's test by its mid-p value, as `evalsi compare` has it (Fagerland,
    Lydersen & Laake, BMC Medical Research Methodology 13:91, 2013); else Student's t on the differences. Where these
    are all the same, t has no spread to go by: the exact sign test then.
    """
    base_means, cand_means = base.means(), cand.means()
    differences = [cand_means[record] - value for record, value in base_means.items() if record in cand_means]
    if not differences:
        return None
    moments = Moments()
    moments.add(differences)
    pairs, mean, variance = moments.n, moments.mean or 0.0, moments.variance
    interval = student_t(pairs, mean, variance, level) if variance else None
    low, high = (interval.low, interval.high) if interval else (None, None)
    lost = sum(difference < 0 for difference in differences)
    won = sum(difference > 0 for difference in differences)
    p_value: float | None = None
    if base.is_binary and cand.is_binary:
        method, p_value = "mcnemar-midp", mcnemar_midp(won, lost)
    elif low is None or high is None:
        method, p_value = "sign-exact", sign_test(won, lost)
    else:
        method = "t"
    excludes_zero = low is not None and high is not None and not low <= 0.0 <= high
    significant = excludes_zero if p_value is None else p_value < 1.0 - level
    base_only, cand_only = len(base_means) - pairs, len(cand_means) - pairs
    test = (p_value, significant, method)
    return PairedDifference(mean, low, high, *test, pairs, won, lost, base_only, cand_only)


def sign_test(won: int, lost: int) -> float:
    """The exact two-sided p-value of so many changes one way and so many the other, if both ways are as likely.

    Twice the smaller tail of the binomial distribution with a chance of one half, at most 1.
    """
    return min(1.0, 2.0 * math.fsum(_tail(won, lost)))


def mcnemar_midp(won: int, lost: int) -> float:
    """The same, but that half of the chance of changes exactly as uneven as these is left out; 1 for no changes."""
    terms = _tail(won, lost)
    return min(1.0, 2.0 * math.fsum(terms) - terms[-1]) if won + lost else 1.0


def _tail(won: int, lost: int) -> list[float]:
    """The chances of 0, 1, … up to the lesser of the two."""
    n, least = won + lost, min(won, lost)
    # In logarithms: the coefficients of some thousand changes are beyond floats.
    log_all = math.lgamma(n + 1) - n * math.log(2.0)
    return [math.exp(log_all - math.lgamma(i + 1) - math.lgamma(n - i + 1)) for i in range(least + 1)]
