"""The verdicts of gates over a run's summaries, each with its reason in a sentence.

It must not know how a record is scored, nor read any file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.gates.against_baseline import Family, compared, family_of
from evalsi_kernel.gates.baseline import Baseline, Measured
from evalsi_kernel.gates.bounds import OF_REPLIES, OF_THE_MEAN, STAT_WORDS, Reach, asked, held, reach_of, told, value_of
from evalsi_kernel.gates.conditions import SOURCE_KEYS, Condition, ConditionError
from evalsi_kernel.gates.early_stopping import Decision
from evalsi_kernel.gates.pass_at_k import metric_parts
from evalsi_kernel.gates.precheck import GatePlan
from evalsi_kernel.gates.shares import error_rate_of, skip_rate_of
from evalsi_kernel.scores.summaries import Summary

if TYPE_CHECKING:
    from evalsi_kernel.gates.spec import GateSpec

Verdict = Literal["pass", "fail", "undecided", "not applicable"]
Slices = Mapping[tuple[str, str], Sequence[Summary]]
Ends = tuple[float | None, float | None]


class GateResult(NamedTuple):
    """What became of one gate, of one slice of it where it has slices; None where the gate names nothing.

    `verdict` is "not applicable" where its `when` is false. `low` and `high` are the ends of the mean's interval;
    with a baseline and `significant`, of the paired difference. `undecided` is what the gate says that it counts as.
    """

    metric: str
    stat: str
    min: float | None
    max: float | None
    slice: dict[str, str] | None
    baseline: str | None
    max_drop: float | None
    significant: bool | None
    verdict: Verdict
    value: float | None
    low: float | None
    high: float | None
    n: int
    errors: int
    skipped: int
    reason: str
    undecided: Literal["fail", "pass"] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON, in the form of decision 0009: all but `undecided`, and `passed`, which no undecided gate has."""
        form = self._asdict()
        del form["undecided"]
        return {**form, "passed": None if self.verdict == "not applicable" else self.verdict == "pass"}


def judge_gates(
    plan: GatePlan,
    summaries: Sequence[Summary],
    *,
    facts: Mapping[str, Any],
    slices: Slices | None = None,
    this_run: Measured | None = None,
    decided: Sequence[Decision | None] = (),
    trials: int = 1,
) -> list[GateResult]:
    """Judge every gate of a plan.

    Args:
        plan: from `plan_gates`.
        summaries: of the whole run; what was not finished is among the `cancelled`, but for what early stopping left.
        facts: the values of `GATE_VARIABLES`; the run's manifest has them.
        slices: (metadata key, value) → the summaries of those records.
        this_run: the run's own side of a comparison, needed where a gate has a baseline (`baseline.side`).
        decided: what early stopping found, one for each gate; it takes the place of looking at the bounds.
        trials: how often each record ran; for the words of the reasons.

    Returns:
        One result a gate, in order; for a gate by slices one for each value, in the order of their names.
    """
    whole = _by_metric(summaries)
    apply = (gate for gate in applying(plan, facts) if gate is not None)
    family = family_of(apply, whole, plan.baselines, this_run)
    results = []
    for index, (gate, condition) in enumerate(zip(plan.gates, plan.conditions, strict=True)):
        decision = decided[index] if index < len(decided) else None
        not_judged = _condition_result(gate, condition, facts)
        if not_judged is not None:
            results.append(not_judged)
            continue
        for of_slice, known in _parts(gate, whole, slices or {}):
            base = plan.baselines.get(gate.baseline) if gate.baseline is not None else None
            results.append(_Judging(gate, known, of_slice, plan, trials).result(decision, base, this_run, family))
    return results


def run_verdict(
    results: Sequence[GateResult], undecided: Literal["fail", "pass"] = "fail"
) -> Literal["pass", "fail", "undecided"] | None:
    """The verdict of a run, the worst of its gates; what does not pass ends the run with exit code 3.

    Args:
        results: of all gates.
        undecided: what an undecided gate counts as, where it does not say so itself.

    Returns:
        "fail" where a gate failed, else "undecided" where one is undecided and does not count as a pass, else "pass".
        None where no gate applies.
    """
    verdicts = {
        "pass" if one.verdict == "undecided" and (one.undecided or undecided) == "pass" else one.verdict
        for one in results
    }
    worst_first: tuple[Literal["fail", "undecided", "pass"], ...] = ("fail", "undecided", "pass")
    return next((one for one in worst_first if one in verdicts), None)


def applying(plan: GatePlan, facts: Mapping[str, Any]) -> list[GateSpec | None]:
    """The gates of a plan, None in the place of each whose `when` is false; what cannot be told applies."""
    found = [_condition_result(*one, facts) for one in zip(plan.gates, plan.conditions, strict=True)]
    return [None if of and of.verdict == "not applicable" else gate for gate, of in zip(plan.gates, found, strict=True)]


def _condition_result(gate: GateSpec, condition: Condition | None, facts: Mapping[str, Any]) -> GateResult | None:
    """The result of a gate that its condition keeps from being judged; None where it is to be judged."""
    if condition is None:
        return None
    source = {**dict.fromkeys(SOURCE_KEYS), **(facts.get("source") or {})}
    try:
        if condition.holds({**facts, "source": source}):
            return None
    except ConditionError as error:
        return _result(gate, "undecided", f"Whether `{gate.when}` is true cannot be told: {error}")
    return _result(gate, "not applicable", f"It does not apply: `{gate.when}` is false.")


Known = Mapping[str, Summary | None]
"""Summaries by their metrics; None for one that several evaluators give, so that nobody takes one of them."""


def _parts(gate: GateSpec, whole: Known, slices: Slices) -> Iterator[tuple[tuple[str, str] | None, Known]]:
    """The slices over which a gate is judged, each with its summaries; the whole where it names none."""
    if gate.slice is None:
        yield None, whole
        return
    if isinstance(gate.slice, dict):
        names = [*gate.slice.items()]
    else:
        names = sorted(one for one in slices if one[0] == gate.slice) or [(gate.slice, "")]
    for name in names:
        yield name, _by_metric(slices.get(name, ()))


def _by_metric(summaries: Iterable[Summary]) -> Known:
    known: dict[str, Summary | None] = {}
    for one in summaries:
        known[one.metric] = None if one.metric in known else one
    return known


def _result(
    gate: GateSpec,
    verdict: Verdict,
    reason: str,
    *,
    summary: Summary | None = None,
    of_slice: dict[str, str] | None = None,
    ends: Ends = (None, None),
) -> GateResult:
    known = summary or Summary(gate.metric, "", "number")
    value = value_of(gate.stat, known) if summary else None
    significant = None if gate.baseline is None else gate.significant
    asked_for = (gate.metric, gate.stat, gate.min, gate.max, of_slice, gate.baseline, gate.max_drop, significant)
    return GateResult(*asked_for, verdict, value, *ends, known.n, known.errors, known.skipped, reason, gate.undecided)


class _Judging:
    """One gate over the whole run or one slice."""

    def __init__(
        self,
        gate: GateSpec,
        known: Known,
        of_slice: tuple[str, str] | None,
        plan: GatePlan,
        trials: int,
    ) -> None:
        self._gate = gate
        self._known = known
        self._slice = of_slice
        parts = metric_parts(gate.metric)
        # pass@k is a number of records, made of trials; it rests on what the trials rest on.
        self._trials = known.get(parts.metric) if parts else None
        self._evaluator = plan.evaluators.get(gate.metric)
        self._range = plan.ranges.get(gate.metric)
        self._noun = "trials" if trials > 1 and parts is None else "records"

    def result(
        self, decision: Decision | None, base: Baseline | None, this_run: Measured | None, family: Family
    ) -> GateResult:
        gate, summary = self._gate, self._known.get(self._gate.metric) or self._never_scored()
        of_slice = dict([self._slice]) if self._slice else None
        if summary is None:
            return _result(gate, "fail", self._not_there(), of_slice=of_slice)
        ends: Ends = (summary.ci.low, summary.ci.high) if summary.ci else (None, None)
        verdict, reason = self._verdict(summary, decision)
        if base is not None and verdict == "pass":
            finding = compared(gate, summary, base, this_run, self._slice, family=family)
            verdict, reason = finding.verdict, f"{reason} {finding.reason}".strip()
            if gate.significant:
                ends = finding.low, finding.high
        return _result(gate, verdict, reason, summary=summary, of_slice=of_slice, ends=ends)

    def _never_scored(self) -> Summary | None:
        """The summary of the gate's evaluator, which names no metric where it never scored; None without one."""
        if self._gate.metric in self._known or self._evaluator is None:
            return None
        found = self._known.get(self._evaluator)
        return found if found is not None and not found.n else None

    def _verdict(self, summary: Summary, decision: Decision | None) -> tuple[Verdict, str]:
        """The verdict on coverage and bounds; a pass without a reason where the gate has no bound of its own."""
        gate = self._gate
        counted = summary.n + summary.errors + summary.skipped + summary.cancelled
        if not summary.n and (gate.stat in OF_THE_MEAN or not counted):
            counts = f"{summary.errors} errors, {summary.skipped} skipped, {summary.cancelled} not finished"
            return "fail", f"No record was scored: {counts}."
        if gate.stat in OF_THE_MEAN and summary.kind == "label":
            return "fail", f"{gate.metric} is a label, which has no mean."
        value = value_of(gate.stat, summary)
        if value is None:
            return "undecided", self._undefined(summary)
        thin = self._thin_coverage(summary)
        if thin is not None:
            return self._lost(summary, value) or ("undecided", thin)
        # What was in flight when the run stopped may speak against it; then nobody knows.
        if decision is not None and held(Reach(value, value), gate.min, gate.max) == decision.verdict:
            return decision.verdict, f"{self._number(value)}; {_decision_told(decision)}"
        unfinished = max(summary.cancelled, self._trials.cancelled if self._trials else 0)
        if gate.stat in OF_REPLIES:
            # Any metric tells how many replies are still to come; one of the whole data has one outcome alone.
            unfinished = max(one.cancelled for one in self._known.values() if one is not None)
        if unfinished:
            return self._unfinished(summary, value, unfinished)
        if gate.min is None and gate.max is None:
            return "pass", ""
        return held(Reach(value, value), gate.min, gate.max) or "fail", f"{self._number(value)}."

    def _lost(self, summary: Summary, value: float) -> tuple[Verdict, str] | None:
        """A mean that errors cannot save; None where they might."""
        gate, unknown = self._gate, summary.errors + summary.cancelled
        is_open = self._trials is not None or gate.stat != "mean"
        reach = None if is_open else reach_of("mean", summary, unknown, self._range)
        if reach is None or held(reach, gate.min, gate.max) != "fail":
            return None
        return "fail", f"{self._number(value)}, whatever the {unknown} without a score would add."

    def _unfinished(self, summary: Summary, value: float, unfinished: int) -> tuple[Verdict, str]:
        gate = self._gate
        reach = None if self._trials else reach_of(gate.stat, summary, unfinished, self._range)
        why = f"{unfinished} {'trials' if self._trials else self._noun} are not finished"
        if reach is None or gate.baseline is not None:
            return "undecided", f"{why}, so that the {self._words} is not known."
        verdict = held(reach, gate.min, gate.max)
        ends = f"{told(reach.low, gate.min, gate.max)} to {told(reach.high, gate.min, gate.max)}"
        return verdict or "undecided", f"{self._number(value)}; {why}, and it may end anywhere from {ends}."

    def _thin_coverage(self, summary: Summary) -> str | None:
        """Return why too little was scored for the mean to say anything; None where it is enough.

        Counts and rates of errors and skips are facts, whatever was scored.
        """
        gate = self._gate
        if gate.stat not in OF_THE_MEAN:
            return None
        for one in filter(None, (summary, self._trials)):
            noun = "trials" if one is self._trials else self._noun
            errors = error_rate_of(one.n, one.errors)
            if errors > gate.max_error_rate:
                of = f"{one.errors} of {one.n + one.errors} {noun} ended as errors"
                return f"{of}, and max_error_rate allows {_share(gate.max_error_rate)}: {_scored(one.n)}."
            skips = skip_rate_of(one.n, one.errors, one.skipped)
            if skips > gate.max_skip_rate:
                of = f"{one.skipped} of {one.n + one.errors + one.skipped} {noun} were skipped"
                return f"{of}, and max_skip_rate allows {_share(gate.max_skip_rate)}: {_scored(one.n)}."
        return None

    @property
    def _words(self) -> str:
        return STAT_WORDS[self._gate.stat].format(noun=self._noun)

    def _number(self, value: float) -> str:
        """The number and its bounds, as a sentence without its full stop."""
        gate = self._gate
        return f"The {self._words} is {told(value, gate.min, gate.max)} and {asked(gate.min, gate.max)}"

    def _undefined(self, summary: Summary) -> str:
        if self._gate.stat == "mean":
            return "The mean is beyond the largest number that can be held."
        if self._gate.stat in OF_REPLIES:
            return f"The {self._words} is unknown: no target was asked."
        why = "there is one score alone" if summary.n < 2 else "the scores have no spread, or a method gave none"
        return f"The {self._words} is undefined: {why}."

    def _not_there(self) -> str:
        if self._slice is not None and not self._known:
            key, value = self._slice
            return f"No record has {key} = {value}." if value else f"No record has a metadata key {key}."
        if self._gate.metric in self._known:
            return f'More than one evaluator gives "{self._gate.metric}": give one of them a name.'
        if self._evaluator in self._known:
            return f'{self._evaluator} gave "{self._gate.metric}" for no record; it may need a param that is not set.'
        return f'The run has no metric "{self._gate.metric}". {did_you_mean(self._gate.metric, self._known)}'.strip()


def _scored(n: int) -> str:
    return f"{n} {'was' if n == 1 else 'were'} scored"


def _share(rate: float) -> str:
    return f"{100 * rate:.4g} %" if rate else "none"


def _decision_told(decision: Decision) -> str:
    of = f" of {decision.of}" if decision.of is not None else ""
    return (
        f"this was decided after {decision.records}{of} records, "
        f"with a chance of {decision.error_rate:.4g} that one gate of the run is decided wrongly."
    )
