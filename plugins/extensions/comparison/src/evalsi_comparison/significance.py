"""Owns what a gate with `significant` asks of two runs: whether the difference of their records may be chance.

It must not know what the gate makes of it, nor files.
"""

from __future__ import annotations

from evalsi_kernel.gates.baseline import PairedDifference, RecordValues
from evalsi_kernel.gates.bounds import told

from .difference import Settings
from .mcnemar import mcnemar_midp
from .paired_tests import LARGEST, means_tested


def paired_difference(base: RecordValues, cand: RecordValues, level: float) -> PairedDifference | None:
    """Compare two runs record by record.

    Args:
        base: values of the baseline.
        cand: values of the candidate.
        level: confidence level, strictly between 0 and 1; a p-value below 1 - level is no chance.

    Returns:
        Candidate minus baseline; None where no record was scored by both, or a value is too large to be tested.

    For one verdict a record it is McNemar's test that decides; else Student's interval of the differences, and where
    these are all the same, so that it has no spread to go by, the exact test of their signs.
    """
    before, after = _means(base), _means(cand)
    pairs = [(value, after[record]) for record, value in before.items() if record in after]
    largest = max((abs(value) for pair in pairs for value in pair), default=0.0)
    if not pairs or largest > LARGEST:
        return None
    differences = [there - here for here, there in pairs]
    won, lost = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    alpha = Settings(level).alpha
    ci, p, _, _ = means_tested(differences, largest, level, None, None)
    low, high = (ci.low, ci.high) if ci else (None, None)
    if _are_verdicts(base) and _are_verdicts(cand):
        p = mcnemar_midp(lost, won)
        found, is_significant = f"p = {p:.3g} by McNemar's test", p < alpha
    elif ci is None:
        p = 1.0 if p is None else p  # of a single pair, which could as well have gone the other way
        found, is_significant = f"p = {p:.3g} by the exact sign test", p < alpha
    else:
        found = f"{level:.4g} interval of the difference {told(ci.low)} to {told(ci.high)}"
        is_significant = not ci.low <= 0.0 <= ci.high
    alone = len(before) + len(after) - 2 * len(pairs)
    others = f", {alone} records without a pair left out" if alone else ""
    if not (won or lost):
        said = f"Over {len(pairs)} pairs there is no difference{others}."
    else:
        chance = "is no chance" if is_significant else "may be chance"
        said = f"Over {len(pairs)} pairs the difference {chance} ({found}{others})."
    return PairedDifference(low, high, is_significant, said)


def _means(values: RecordValues) -> dict[str, float]:
    return {record: sum(of_trials) / len(of_trials) for record, of_trials in values.items()}


def _are_verdicts(values: RecordValues) -> bool:
    """Whether every record has one trial, and that passed or failed."""
    return all(len(one) == 1 and one[0] in (0.0, 1.0) for one in values.values())
