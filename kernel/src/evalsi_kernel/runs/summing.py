"""From a run's log to what is told of it: summaries, slices, gates and their verdict, the results file.

It must not know how the log came about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalsi_kernel.gates.baseline import side
from evalsi_kernel.gates.early_stopping import Decision
from evalsi_kernel.gates.precheck import GatePlan
from evalsi_kernel.gates.verdicts import GateResult, judge_gates, run_verdict
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.results.findings import Finding
from evalsi_kernel.runs.folding import MOST_SLICES, PairedValues, Slices, TrialSums, folded
from evalsi_kernel.runs.history import State
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.manifest import TargetUsage, gates_told, slices_told
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.spec import Spec
from evalsi_kernel.scores.tally import Tally

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker
    from evalsi_kernel.evaluation.run_scores import RunScores
    from evalsi_kernel.scores.summaries import Summary

Verdict = Literal["pass", "fail", "undecided"]


class Judged(NamedTuple):
    """A run's numbers and what its gates say of them."""

    evaluation: Evaluation
    gates: tuple[GateResult, ...]
    verdict: Verdict | None


class Summing:
    """Adds up a run.

    Args:
        spec: of the run.
        gate_plan: its gates.
        instances: its evaluators.
        about: what the run adds to the manifest.
        decided: what early stopping found, one for each gate; empty where nothing was followed.
        state: in which the run ends, from its verdict and its evaluation.
        warned: from the manifest, sentences on what the gates rest on.
    """

    def __init__(
        self,
        spec: Spec,
        gate_plan: GatePlan,
        instances: Sequence[Instance],
        about: Mapping[str, Any],
        decided: Sequence[Decision | None] = (),
        *,
        state: Callable[[Verdict | None, Evaluation], State],
        warned: Callable[[Mapping[str, Any]], Sequence[str]],
    ) -> None:
        self._spec = spec
        self._gate_plan = gate_plan
        self._instances = instances
        self._about = about
        self._decided = decided
        self._state = state
        self._warned = warned
        level = spec.summary.confidence_level
        clustered = spec.summary.cluster_by is not None or spec.trials > 1
        of_records = [instance for instance in instances if instance.info.scope == "record"]
        keys = list(dict.fromkeys([*spec.summary.slice_by, *gate_plan.slice_keys]))
        self._slices = Slices(
            keys, lambda: [Tally(one, level, keep_values=False, clustered=clustered) for one in of_records]
        )
        self._trials = TrialSums(instances, [gate.metric for gate in spec.gates], spec.trials, level)
        self._paired = PairedValues(gate_plan.paired_metrics, instances)
        self._usage = TargetUsage()
        self._gates: tuple[GateResult, ...] = ()
        self._verdict: Verdict | None = None

    def fold(self, progress: Progress, items: Items, scores: RunScores, broker: Broker | None) -> None:
        """Take in every item, in order."""
        for chunk, given in folded(progress, items, self._instances, broker=broker, usage=self._usage):
            # The tallies of the whole come first: what cannot stand turns into an error in the column itself.
            scores.take(chunk)
            self._slices.add(chunk, given)
            self._trials.add(chunk)
            self._paired.add(chunk)

    def complete(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with all that a run adds, judged by the gates."""
        summaries = self._with_trials(evaluation.summaries)
        slices = self._slices.summaries()
        manifest = {**evaluation.manifest, **self._about, "target_usage": self._usage.to_dict()}
        results = judge_gates(
            self._gate_plan,
            summaries,
            facts=manifest,
            slices=slices,
            this_run=side("this run", manifest, [one.to_dict() for one in summaries], [], self._paired.values),
            decided=self._decided,
            trials=self._spec.trials,
        )
        self._gates, self._verdict = tuple(results), run_verdict(results, self._spec.undecided)
        manifest["state"] = self._state(self._verdict, evaluation)
        more = {"verdict": self._verdict, "gates": gates_told(results), "slices": slices_told(slices)}
        findings = (*evaluation.findings, *self._warnings(manifest))
        return evaluation._replace(summaries=summaries, manifest=manifest, findings=findings, more=more)

    def judged(self, evaluation: Evaluation) -> Judged:
        """What `complete` made, with the verdict."""
        return Judged(evaluation, self._gates, self._verdict)

    def _with_trials(self, summaries: Sequence[Summary]) -> tuple[Summary, ...]:
        by_metric = self._trials.summaries()
        return tuple(one for summary in summaries for one in (summary, *by_metric.get(summary.metric, ())))

    def _warnings(self, manifest: Mapping[str, Any]) -> list[Finding]:
        told = [Finding("notice", warning) for warning in (*self._gate_plan.warnings, *self._warned(manifest))]
        for key in sorted(self._slices.overflown):
            message = f"{key!r} has more than {MOST_SLICES:,} values; the first {MOST_SLICES:,} are summed up apart."
            told.append(Finding("notice", message, "Slice by a key with fewer values."))
        return told
