"""The part of a gate that compares with a baseline: how much worse the mean is, and whether the comparison is sound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalsi_kernel.gates.baseline import Baseline, Mean, Measured, PairedDifference
from evalsi_kernel.gates.bounds import rounding, told
from evalsi_kernel.gates.comparability import incomparable
from evalsi_kernel.gates.shares import error_rate_of, skip_rate_of
from evalsi_kernel.scores.holm import holm
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
    gate: GateSpec,
    summary: Summary,
    baseline: Baseline,
    cand: Measured | None,
    of_slice: tuple[str, str] | None,
    *,
    family: Family,
) -> Comparison:
    """Compare a metric with its baseline.

    Args:
        gate: one with a baseline and a max_drop.
        summary: of the metric in this run, with a mean.
        baseline: what it is compared with.
        cand: this run's own side; None where nobody gave it, which makes the gate undecided.
        of_slice: (metadata key, value) where only the records of a slice are compared.
        family: the tests of all `significant` gates of the run.
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
    test = family.tests.get((gate.baseline or "", gate.metric))
    if test is None:
        return Comparison(
            "undecided",
            f"{reason} No record was scored in both runs, or some value is too large, so that no pairs can be tested.",
        )
    # Records that one run skipped move its mean, and are in no pair.
    is_worse = is_worse and (test.pairs.mean < 0) == (summary.higher_is_better is not False)
    verdict: Literal["pass", "fail"] = "fail" if is_worse and test.p < family.alpha else "pass"
    return Comparison(verdict, f"{reason} {_test_told(test, family, cand.level)}", test.pairs.low, test.pairs.high)


class AdjustedTest(NamedTuple):
    """A paired test with its p-value adjusted for all tests of the family; 1 where the test has none."""

    pairs: PairedDifference
    p: float


class Family(NamedTuple):
    """The tests of all `significant` gates of a run, which share one error rate.

    Args:
        tests: by baseline and metric; several gates on the same two share one test.
        alpha: what an adjusted p-value must be below.
    """

    tests: Mapping[tuple[str, str], AdjustedTest] = {}
    alpha: float = 0.05

    @property
    def size(self) -> int:
        """The number of tests that p-values are adjusted for."""
        return sum(one.pairs.p is not None for one in self.tests.values())


def family_of(
    gates: Iterable[GateSpec],
    known: Mapping[str, Summary | None],
    baselines: Mapping[str, Baseline],
    cand: Measured | None,
) -> Family:
    """Test the pairs of every `significant` gate, and adjust the p-values for their number (Holm).

    A gate whose own bound fails is in the family too, so that the others do not depend on it.

    Args:
        gates: those that apply.
        known: summaries by metric.
        baselines: by the path that a gate writes.
        cand: this run's own side; None gives an empty family.
    """
    if cand is None:
        return Family()
    found: dict[tuple[str, str], PairedDifference] = {}
    for gate in gates:
        summary, baseline = known.get(gate.metric), baselines.get(gate.baseline or "")
        if not gate.significant or summary is None or baseline is None:
            continue
        there = baseline.side.means.get(gate.metric)
        if _unsound(gate, summary, there, baseline.side, cand) is not None:
            continue
        pairs = baseline.test(
            baseline.side.values[gate.metric],
            cand.values[gate.metric],
            cand.level,
            cand.clusters,
            of_verdicts=summary.kind == "pass",
        )
        if pairs is not None:
            found[gate.baseline or "", gate.metric] = pairs
    adjusted = iter(holm([one.p for one in found.values() if one.p is not None]))
    tests = {key: AdjustedTest(one, 1.0 if one.p is None else next(adjusted)) for key, one in found.items()}
    return Family(tests, round(1 - cand.level, 12))


def _test_told(test: AdjustedTest, family: Family, level: float) -> str:
    """The finding of a test as a sentence."""
    pairs = test.pairs
    over = f"{pairs.pairs} pairs" + (f" in {pairs.clusters} clusters" if pairs.clusters is not None else "")
    others = f", {pairs.unpaired} records without a pair left out" if pairs.unpaired else ""
    if pairs.is_same:
        return f"Over {over} there is no difference{others}."
    is_significant = test.p < family.alpha
    value = f"p = {test.p:.3g}" if family.size < 2 else f"adjusted p = {test.p:.3g}"
    adjusted = f", adjusted for the {family.size} tests of the run's gates (Holm)" if family.size > 1 else ""
    ends = ""
    if pairs.low is not None and pairs.high is not None:
        alone = " of this metric alone" if not is_significant and (pairs.low > 0 or pairs.high < 0) else ""
        ends = f"; {level:.4g} interval of the difference{alone} {told(pairs.low)} to {told(pairs.high)}"
    chance = "is significant" if is_significant else "is not significant"
    return f"Over {over} the difference {chance} ({value} by {pairs.test}{adjusted}{ends}{others})."


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
    before, after = base.evaluators.get(there.evaluator), cand.evaluators.get(summary.evaluator)
    change = incomparable(before, after, None if summary.judge is None else (base.judge, cand.judge))
    return f"The run is not comparable with {base.name}: {change}. Make a new baseline." if change else None


def _is_other(base_hash: str | None, hash_here: str | None) -> bool:
    """Whether data are known to be other data."""
    return bool(base_hash and hash_here and base_hash != hash_here)


def _difference_told(drop: float, mean: float, base_mean: float, max_drop: float, name: str) -> str:
    if drop == 0.0:
        return f"The mean is {told(mean)}, as in {name}."
    size = told(round(abs(drop), 12), max_drop)  # 0.9 - 0.8 is 0.1, though in floats it is not quite
    how = f"{size} {'worse' if drop > 0 else 'better'} than {told(base_mean, mean)} in {name}"
    return f"The mean is {told(mean, base_mean)}, {how}, and may be {max_drop:.6g} worse."
