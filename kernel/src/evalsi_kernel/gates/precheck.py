"""Gates looked at before anything is paid for: that metrics, conditions and baselines are what the run will have.

It must not know how a gate is judged once there are results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalsi_kernel.checking.problems import Problem, problems_error
from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.baseline import Baseline, BaselineReader
from evalsi_kernel.gates.bounds import OF_THE_MEAN, rounding
from evalsi_kernel.gates.conditions import GATE_VARIABLES, Condition, ConditionLanguage
from evalsi_kernel.gates.pass_at_k import ERRORS_AS_FAILURES, metric_parts, wanted_ks
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import OutputInfo

if TYPE_CHECKING:
    from evalsi_kernel.gates.spec import GateSpec

_MOST_NAMES = 20


class GatePlan(NamedTuple):
    """Gates that can be judged.

    Args:
        gates: as the spec has them.
        conditions: the compiled `when` of each, None where it has none.
        baselines: by the path that a gate writes.
        ranges: metric → (minimum, maximum) of its values, where they are declared; of pass/fail metrics (0, 1).
        warnings: a sentence for what can be known only when the run is over.
        evaluators: metric → the evaluator that declares it, by which an evaluator that never scored is found.
    """

    gates: tuple[GateSpec, ...] = ()
    conditions: tuple[Condition | None, ...] = ()
    baselines: Mapping[str, Baseline] = {}
    ranges: Mapping[str, tuple[float, float]] = {}
    warnings: tuple[str, ...] = ()
    evaluators: Mapping[str, str] = {}

    @property
    def slice_keys(self) -> list[str]:
        """The metadata keys by which summaries are needed, each once."""
        return list(dict.fromkeys(gate.slice_key for gate in self.gates if gate.slice_key is not None))

    @property
    def paired_metrics(self) -> set[str]:
        """The metrics whose values by record are needed, as `RecordValues`."""
        return {gate.metric for gate in self.gates if gate.significant}


def plan_gates(
    gates: Sequence[GateSpec],
    instances: Sequence[Instance],
    *,
    trials: int,
    folder: Path,
    language: Callable[[], ConditionLanguage],
    baseline: BaselineReader,
) -> GatePlan:
    """Check gates against what will run, and make ready what they need.

    A metric that no evaluator declares is an error. Where an evaluator declares none at all, as one in a user's own
    file may, it could give any; then a metric that nobody declares is a warning.

    Args:
        gates: as the spec has them.
        instances: the evaluators that will run.
        trials: how often each record runs.
        folder: what the paths of baselines are relative to.
        language: gives what reads conditions; asked where a gate has one.
        baseline: reads a results file; asked once for each that gates name.

    Raises:
        ConfigError: `config.gate`; one error tells all that is wrong, each at its place, such as `spec.gates[1].when`.
            Also as `language` raises.
    """
    metrics = _declared(instances)
    paired = {gate.metric for gate in gates if gate.significant}
    is_open = any(not one.info.outputs for one in instances)
    planning = _Planning(metrics, is_open, trials, lambda name: baseline(folder / name, name, paired))
    conditions = [planning.condition(gate, index, language) for index, gate in enumerate(gates)]
    for index, gate in enumerate(gates):
        planning.check_metric(gate, index)
        if gate.baseline is not None:
            planning.check_baseline(gate, index, gate.baseline)
    evaluators = {one.metric(output.name): one.name for one in instances for output in one.info.outputs}
    ranges = dict(_ranges(metrics.items(), [gate.metric for gate in gates], trials))
    for index, gate in enumerate(gates):
        if gate.metric in ranges:
            planning.check_bounds(gate, index, ranges[gate.metric])
    if planning.problems:
        raise problems_error(ConfigError, "config.gate", "gates", planning.problems)
    return GatePlan(tuple(gates), tuple(conditions), planning.baselines, ranges, tuple(planning.warnings), evaluators)


def _declared(instances: Iterable[Instance]) -> dict[str, OutputInfo]:
    return {one.metric(output.name): output for one in instances for output in one.info.outputs}


def _ranges(
    metrics: Iterable[tuple[str, OutputInfo]], named: Sequence[str], trials: int
) -> Iterator[tuple[str, tuple[float, float]]]:
    for metric, output in metrics:
        if output.kind == "pass":
            yield metric, (0.0, 1.0)
        elif output.kind == "number" and output.minimum is not None and output.maximum is not None:
            yield metric, (output.minimum, output.maximum)
        for k in wanted_ks(metric, named, trials) if _has_trials(output) else ():
            yield f"{metric}.pass@{k}", (0.0, 1.0)
            yield f"{metric}.pass^{k}", (0.0, 1.0)


def _has_trials(output: OutputInfo) -> bool:
    """Whether a trial passes or fails by it: a pass/fail metric, or a number from 0 to 1, at which 1 is a success."""
    return output.kind == "pass" or (output.kind, output.minimum, output.maximum) == ("number", 0, 1)


class _Planning:
    """What was found so far."""

    def __init__(
        self, metrics: Mapping[str, OutputInfo], is_open: bool, trials: int, read: Callable[[str], Baseline]
    ) -> None:
        self._read = read
        self._metrics = metrics
        self._is_open = is_open
        self._trials = trials
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        self.baselines: dict[str, Baseline] = {}
        self._unread: set[str] = set()

    def condition(self, gate: GateSpec, index: int, language: Callable[[], ConditionLanguage]) -> Condition | None:
        if gate.when is None:
            return None
        reader = language()
        try:
            return reader.compile(gate.when, GATE_VARIABLES)
        except ConfigError as error:
            self._add(index, "when", f"cannot be used: {error.message.rstrip('.')}", error.hint)
            return None

    def check_metric(self, gate: GateSpec, index: int) -> None:
        metric, trials = gate.metric, self._trials
        output = self._metrics.get(metric)
        if output is not None:
            if output.kind == "label" and (gate.stat in OF_THE_MEAN or gate.baseline is not None):
                self._add(index, "stat", f"is {gate.stat}, and {metric} is a label, which has no mean", "Use stat: n.")
            return
        if metric.endswith(ERRORS_AS_FAILURES):
            name = metric.removesuffix(ERRORS_AS_FAILURES)
            self._add(index, "metric", f'is "{metric}", which is shown for comparison only', f"Gate on {name}.")
            return
        parts = metric_parts(metric)
        if parts and (of := self._metrics.get(parts.metric)):
            if gate.slice_key is not None or gate.significant:
                key = "significant" if gate.significant else "slice"
                what = f"cannot go with {metric}, which is known for all records together only"
                self._add(index, key, what, f"Gate on {parts.metric}.")
            if not _has_trials(of):
                what = f'is "{metric}", and {parts.metric} neither passes nor fails a trial'
                self._add(index, "metric", what, "Name a pass/fail metric, or a number that declares the range 0 to 1.")
            elif parts.k > trials:
                what = f"needs {parts.k} trials of each record, and the run has {trials}"
                self._add(index, "metric", what, f"Write trials: {parts.k} or more.")
            return
        known = [*self._metrics, *(name for name, _ in _ranges(self._metrics.items(), (), trials))]
        hint = f"{did_you_mean(metric, known)} {_listed(dict.fromkeys(known))}".strip()
        if self._is_open:
            what = f'spec.gates[{index}].metric is "{metric}", which no evaluator declares'
            self.warnings.append(f"{what}; if none gives it either, the gate fails. {hint}")
        else:
            self._add(index, "metric", f'is "{metric}", which no evaluator of the run gives', hint)

    def check_bounds(self, gate: GateSpec, index: int, values: tuple[float, float]) -> None:
        """Refuse a bound that no value of a metric with a declared range can meet."""
        low, high = values
        span = f"{gate.metric} is from {low:g} to {high:g}"
        # The lower end of an interval may be below the range, and the upper end above it.
        if gate.min is not None and gate.stat in ("mean", "lower") and gate.min > high + rounding(high):
            hint = f"Write {gate.min / 100:g} for {gate.min:g} %." if values == (0, 1) else f"Write {high:g} or less."
            self._add(index, "min", f"is {gate.min:g}, and {span}, so that nothing passes", hint)
        if gate.max is not None and gate.stat in ("mean", "upper") and gate.max < low - rounding(low):
            self._add(index, "max", f"is {gate.max:g}, and {span}, so that nothing passes", f"Write {low:g} or more.")

    def check_baseline(self, gate: GateSpec, index: int, name: str) -> None:
        if name in self._unread:
            return
        if name not in self.baselines:
            try:
                self.baselines[name] = self._read(name)
            except ConfigError as error:
                self._unread.add(name)
                self._add(index, "baseline", f"cannot be used: {error.message.rstrip('.')}", error.hint)
                return
        found = self.baselines[name].side
        if gate.metric not in found.means:
            hint = f"{did_you_mean(gate.metric, found.means)} {_listed(found.means)}".strip()
            self._add(index, "baseline", f'is {name}, which has no metric "{gate.metric}"', hint)
        elif gate.slice_key is not None and all(key != gate.slice_key for key, _ in found.slices):
            what = f"is {name}, which has no slices by {gate.slice_key}"
            self._add(index, "baseline", what, f"Make it with summary.slice_by: [{gate.slice_key}].")

    def _add(self, index: int, key: str, what: str, hint: str) -> None:
        self.problems.append(Problem(f"spec.gates[{index}].{key}", what, hint))


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    return f"There are: {', '.join(known[:_MOST_NAMES])}{more}." if known else ""
