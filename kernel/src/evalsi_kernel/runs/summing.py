"""From a run's log to what is told of it: summaries, slices, gates and their verdict, the results file.

It must not know how the log came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from evalsi_kernel.broker.settings import PRIMARY
from evalsi_kernel.evaluation.broker_findings import OVERSHOOT
from evalsi_kernel.extensions.hook_calls import gate_warnings, trial_advice
from evalsi_kernel.gates.baseline import mark_of, side
from evalsi_kernel.gates.early_stopping import Decision
from evalsi_kernel.gates.pass_at_k import metric_parts
from evalsi_kernel.gates.verdicts import GateResult, judge_gates, run_verdict
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.results.findings import Finding, cut_off_findings
from evalsi_kernel.runs.folding import folded
from evalsi_kernel.runs.history import State
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.manifest import TargetUsage, slices_told
from evalsi_kernel.runs.parts import MOST_SLICES, PairedValues, Slices, TrialSums
from evalsi_kernel.runs.prepared import Prepared
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.scores.tally import Tally

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker
    from evalsi_kernel.evaluation.run_scores import RunScores
    from evalsi_kernel.scores.summaries import Summary

TARGET = "Raise spec.target.max_tokens, or have the target answer in fewer words."
Verdict = Literal["pass", "fail", "undecided"]


class Summing:
    """Adds up a run.

    Args:
        prepared: the checked spec.
        about: what the run adds to the manifest.
        decided: what early stopping found, one for each gate; empty where nothing was followed.
        stopped: whether the run was stopped from outside.
        overshoots: what the target took beyond its budget, a sentence each.

    Attributes:
        gates: one result a gate, once `complete` has judged them.
        verdict: of all gates, likewise; None where none applies.
    """

    def __init__(
        self,
        prepared: Prepared,
        about: Mapping[str, Any],
        decided: Sequence[Decision | None],
        *,
        stopped: bool,
        overshoots: Sequence[str] = (),
    ) -> None:
        self.gates: tuple[GateResult, ...] = ()
        self.verdict: Verdict | None = None
        self._prepared = prepared
        self._about = about
        self._decided = decided
        self._stopped = stopped
        self._overshoots = overshoots
        spec, instances, level = prepared.spec, prepared.plan.instances, prepared.spec.summary.confidence_level
        clustered = spec.summary.cluster_by is not None or spec.trials > 1
        of_records = [instance for instance in instances if instance.info.scope == "record"]
        keys = list(dict.fromkeys([*spec.summary.slice_by, *prepared.gates.slice_keys]))
        self._slices = Slices(
            keys, lambda: [Tally(one, level, keep_values=False, clustered=clustered) for one in of_records]
        )
        self._trials = TrialSums(instances, [gate.metric for gate in spec.gates], spec.trials, level)
        self._paired = PairedValues(prepared.gates.paired_metrics, instances)
        self._asked = 0
        self._usage = TargetUsage()
        about = {"ranges": prepared.gates.ranges, "instances": instances, "level": level}
        self._advice = trial_advice(prepared.extensions, spec.trials, **about)

    def fold(self, progress: Progress, items: Items, scores: RunScores, broker: Broker | None) -> None:
        """Take in every item, in order."""
        instances = self._prepared.plan.instances
        for chunk, given, ends in folded(progress, items, instances, broker=broker, usage=self._usage):
            # The tallies of the whole come first: what cannot stand turns into an error in the column itself.
            scores.take(chunk)
            self._slices.add(chunk, given, ends)
            clusters = chunk.clusters if self._prepared.spec.summary.cluster_by is not None else None
            self._trials.add(chunk, clusters)
            self._paired.add(chunk, clusters)
            if self._advice is not None:
                self._advice.add(chunk)
            if self._prepared.gates.baselines:
                self._asked += sum(mark_of(one["id"], one.get("input"), one.get("reference")) for one in given)

    def complete(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with all that a run adds, judged by the gates."""
        summaries = self._with_trials(evaluation.summaries)
        slices = self._slices.summaries()
        manifest = {**evaluation.manifest, **self._about, "target_usage": self._usage.to_dict()}
        told, paired = [one.to_dict() for one in summaries], self._paired
        results = judge_gates(
            self._prepared.gates,
            summaries,
            facts=manifest,
            slices=slices,
            this_run=side("this run", manifest, told, [], paired.values, asked=self._asked, clusters=paired.clusters),
            decided=self._decided,
            trials=self._prepared.spec.trials,
        )
        self.gates, self.verdict = tuple(results), run_verdict(results, self._prepared.spec.undecided)
        manifest["state"] = end_state(self.verdict, evaluation, stopped=self._stopped)
        gates = [result.to_dict() for result in results]
        more: dict[str, Any] = {"verdict": self.verdict, "gates": gates, "slices": slices_told(slices)}
        if self._advice is not None and (advice := self._advice.told()) is not None:
            more["trial_advice"] = advice
        findings = (*evaluation.findings, *self._warnings(manifest))
        return evaluation._replace(summaries=summaries, manifest=manifest, findings=findings, more=more)

    def _with_trials(self, summaries: Sequence[Summary]) -> tuple[Summary, ...]:
        by_metric, usage = self._trials.summaries(), self._usage
        return tuple(
            one._replace(truncated=usage.truncated, filtered=usage.filtered)
            for summary in summaries
            for one in (summary, *by_metric.get(summary.metric, ()))
        )

    def _warnings(self, manifest: Mapping[str, Any]) -> list[Finding]:
        warnings = (*self._prepared.gates.warnings, *self._warnings_of_extensions(manifest))
        told = [Finding("notice", warning) for warning in warnings]
        told += cut_off_findings("the target", self._usage.replies, self._usage.truncated, self._usage.filtered, TARGET)
        told += [Finding("notice", sentence, OVERSHOOT) for sentence in self._overshoots]
        for key in sorted(self._slices.overflown):
            message = f"{key!r} has more than {MOST_SLICES:,} values; the first {MOST_SLICES:,} are summed up apart."
            told.append(Finding("notice", message, "Slice by a key with fewer values."))
        return told

    def _warnings_of_extensions(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """What extensions say of the judges that gates rest on."""
        prepared = self._prepared
        judge = ((manifest.get("judge") or {}).get("roles") or {}).get(PRIMARY)
        metrics = {
            parts.metric if (parts := metric_parts(gate.metric)) else gate.metric for gate in prepared.spec.gates
        }
        gated = {
            one.name
            for one in prepared.plan.instances
            if metrics & {one.name, *(one.metric(output.name) for output in one.info.outputs)}
        }
        evaluators = [one for one in manifest["evaluators"] if one["name"] in gated]
        if judge is None or not evaluators:
            return ()
        return gate_warnings(evaluators, judge, prepared.request.folder, prepared.extensions)


def end_state(verdict: Verdict | None, evaluation: Evaluation, *, stopped: bool) -> State:
    """In which state a run ends, by the verdict of its gates and by its numbers."""
    if stopped:
        return "cancelled"
    if evaluation.error is not None:
        return "error"
    if verdict not in (None, "pass"):
        return "failed"
    # What nobody gates on may have no score at all: that is an error too, and no success.
    return "error" if any(one.severity == "problem" for one in evaluation.findings) else "succeeded"
