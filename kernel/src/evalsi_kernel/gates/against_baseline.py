"""The part of a gate that compares with a baseline: how much worse the mean is, and whether the comparison is sound.

It must not know what else the gate asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalsi_kernel.gates.baseline import Baseline, Mean, Measured
from evalsi_kernel.gates.bounds import rounding, told
from evalsi_kernel.gates.shares import error_rate_of, skip_rate_of
from evalsi_kernel.scores.summaries import Summary

if TYPE_CHECKING:
    from evalsi_kernel.gates.spec import GateSpec


class Comparison(NamedTuple):
    """What the comparison says.

    Args:
        verdict: pass, fail or undecided.
        reason: a sentence or two.
        low, high: ends of the interval of the paired difference, candidate minus baseline; None without pairs.
    """

    verdict: Literal["pass", "fail", "undecided"]
    reason: str
    low: float | None = None
    high: float | None = None


def compared(
    gate: GateSpec, summary: Summary, baseline: Baseline, cand: Measured | None, of_slice: tuple[str, str] | None
) -> Comparison:
    """Compare a metric with its baseline.

    Args:
        gate: one with a baseline and a max_drop.
        summary: of the metric in this run, with a mean.
        baseline: what it is compared with.
        cand: this run's own side; None where nobody gave it, which makes the gate undecided.
        of_slice: (metadata key, value) where only the records of a slice are compared.
    """
    base, mean, max_drop = baseline.side, summary.mean or 0.0, gate.max_drop or 0.0
    there = (base.means if of_slice is None else base.slices.get(of_slice, {})).get(gate.metric)
    problem = _unsound(gate, summary, there, base, cand)
    if problem or there is None or there.mean is None or cand is None:
        return Comparison("undecided", problem or f"{base.name} has no mean of {gate.metric} to compare with.")
    drop = there.mean - mean if summary.higher_is_better is not False else mean - there.mean
    # 0.92 - 0.9 is not more than 0.02, though in floats it is.
    is_worse = drop > max_drop + rounding(there.mean)
    reason = _difference_told(drop, mean, there.mean, max_drop, base.name)
    if _is_other(base.dataset[0], cand.dataset[0]):
        reason += " The data differ, though not in ids, inputs and references."
    if not gate.significant:
        return Comparison("fail" if is_worse else "pass", reason)
    pairs = baseline.test(base.values[gate.metric], cand.values[gate.metric], cand.level, cand.clusters)
    if pairs is None:
        return Comparison(
            "undecided",
            f"{reason} No record was scored in both runs, or some value is too large, so that no pairs can be tested.",
        )
    # Records that one run skipped move its mean, and are in no pair.
    is_worse = is_worse and (pairs.mean < 0) == (summary.higher_is_better is not False)
    verdict: Literal["pass", "fail"] = "fail" if is_worse and pairs.is_significant else "pass"
    return Comparison(verdict, f"{reason} {pairs.told}", pairs.low, pairs.high)


def _unsound(gate: GateSpec, summary: Summary, there: Mean | None, base: Measured, cand: Measured | None) -> str | None:
    """Why the two numbers cannot be compared, as a sentence."""
    if cand is None:
        return "What this run is made of is not known, so that it cannot be compared."
    if there is None or not there.n:
        return f"{base.name} has no scored record of {gate.metric} there."
    return _thin(gate, there, base.name) or _other_make(summary, there, base, cand)


def _thin(gate: GateSpec, there: Mean, name: str) -> str | None:
    """Why a baseline rests on too little, by the same measure as the run itself."""
    if error_rate_of(there.n, there.errors) > gate.max_error_rate:
        return f"{name} was itself scored with {there.errors} errors, more than max_error_rate allows."
    if skip_rate_of(there.n, there.errors, there.skipped) > gate.max_skip_rate:
        return f"{name} itself skipped {there.skipped} of its scores, more than max_skip_rate allows."
    return None


def _other_make(summary: Summary, there: Mean, base: Measured, cand: Measured) -> str | None:
    """What differs between the makes of two numbers, so that their difference would say nothing of the target."""
    (base_hash, base_records), (hash_here, records_here) = base.dataset, cand.dataset
    asks_the_same = base.asked is not None and base.asked == cand.asked
    if base_records != records_here or (_is_other(base_hash, hash_here) and not asks_the_same):
        here = f"here {records_here}" if base_records != records_here else "and so here, but their texts differ"
        return f"{base.name} was scored on other data ({base_records} records, {here}): make a new one."
    base_ref, base_params = base.evaluators.get(there.evaluator, (None, None))
    ref_here, params_here = cand.evaluators.get(summary.evaluator, (None, None))
    if base_ref != ref_here:
        return f"{base.name} was scored by {base_ref}, and this run by {ref_here}: make a new baseline."
    if base_params != params_here:
        return f"{base.name} was scored by {base_ref} with other params: make a new baseline."
    if summary.judge is not None and base.judge != cand.judge:
        return f"{base.name} was scored with another judge, or another setting of it: make a new baseline."
    return None


def _is_other(base_hash: str | None, hash_here: str | None) -> bool:
    """Whether data are known to be other data."""
    return bool(base_hash and hash_here and base_hash != hash_here)


def _difference_told(drop: float, mean: float, base_mean: float, max_drop: float, name: str) -> str:
    if drop == 0.0:
        return f"The mean is {told(mean)}, as in {name}."
    size = told(round(abs(drop), 12), max_drop)  # 0.9 - 0.8 is 0.1, though in floats it is not quite
    how = f"{size} {'worse' if drop > 0 else 'better'} than {told(base_mean, mean)} in {name}"
    return f"The mean is {told(mean, base_mean)}, {how}, and may be {max_drop:.6g} worse."
