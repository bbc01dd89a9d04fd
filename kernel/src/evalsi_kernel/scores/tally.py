"""From a session's outcomes to its metrics: every outcome checked at the border, then added up in columns.

What cannot stand turns into an error here, in the column itself, so that nobody further on meets it. It must not know
how an interval is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import Kind, OutputInfo
from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.scores.intervals import IntervalMethod
from evalsi_kernel.scores.score_check import KINDS, BadScore, ScoreCheck, Verdicts, bad_score_error
from evalsi_kernel.scores.summaries import MetricAccumulator, Summary
from evalsi_protocol.errors import WireError

MAX_REASONS = 50
_RAISED = frozenset({"pack.evaluator_raised", "pack.failed", "pack.crashed"})
UNANSWERED: Outcome = ("cancelled", {"reason": "it was not answered"})


class Tally:
    """Adds up one instance's outcomes.

    Args:
        instance: whose outcomes they are.
        level: confidence level of the intervals.
        keep_values: keep every number, which a resampling method needs.
        clustered: records come with clusters.
        log: the file with what the pack writes, for the hint of an error; "" where there is none.

    Attributes:
        scored, skipped, errors, cancelled: how many records ended so.
        skip_reasons, error_reasons: how often each of the first 50 reasons came.
        metrics: by the name of the score.
        tracebacks: one for each distinct place where the evaluator raised an exception, at most 50.
        metric_failures: by the name of the score, how many scored records lack it because it could not stand; and
            `metric_errors` the reasons.
    """

    def __init__(self, instance: Instance, level: float, *, keep_values: bool, clustered: bool, log: str = "") -> None:
        self.tracebacks: list[str] = []
        self._log = log
        self._places: set[str] = set()
        self.instance = instance
        self.skipped = self.errors = self.cancelled = self.scored = 0
        self.skip_reasons: Counter[str] = Counter()
        self.error_reasons: Counter[str] = Counter()
        self.metric_errors: dict[str, Counter[str]] = {}
        self.metric_failures: Counter[str] = Counter()
        self.metrics: dict[str, MetricAccumulator] = {}
        self._level = level
        self._keep_values = keep_values
        self._clustered = clustered
        self._check = ScoreCheck(instance.info.outputs)
        self._of_dataset = instance.info.scope == "dataset"
        self._declared = {output.name: output for output in instance.info.outputs}
        for output in instance.info.outputs:
            self._accumulator(output.name, output.kind)

    def add(self, column: list[Outcome | None], clusters: Sequence[str] | None) -> None:
        """Add a chunk's outcomes; those that cannot stand become errors in the column itself.

        Args:
            column: one outcome a record; None counts as cancelled.
            clusters: the cluster of each record, where the tally is clustered.
        """
        if not all(column):
            column[:] = [outcome or UNANSWERED for outcome in column]
        scored = [payload for kind, payload in column if kind == "scored"]  # type: ignore[misc]
        if len(scored) < len(column) or self._of_dataset:
            self._count_others(column)
        if scored and not self._of_dataset:
            verdicts = self._check.columns(scored)
            if verdicts is not None:
                self._add(verdicts, _of_scored(column, clusters))
                self.scored += len(scored)
            else:
                self._add_one_by_one(column, clusters)

    def add_whole(self, outcome: Outcome, records: int) -> Outcome:
        """Add what a dataset-scope evaluator says of so many records; gives it back, as an error when it is bad."""
        kind, payload = outcome
        if kind == "scored":
            try:
                checked = self._check.record(payload)
            except BadScore as bad:
                payload = bad_score_error(self.instance.info.ref, bad)
            else:
                self._add(checked.verdicts, None)
                self.scored += records
                return (kind, self._with_failures(payload, checked.failures, records)) if checked.failures else outcome
        elif kind == "skipped":
            reason = _text(payload, "reason")
            self.skipped += records
            self._count(self.skip_reasons, reason, records)
            return kind, {"reason": reason}
        error = self._error_body(kind, payload) if kind != "scored" else payload
        self.errors += records
        self._count(self.error_reasons, error["message"], records)
        return "error", error

    def summaries(self, method: IntervalMethod | None) -> list[Summary]:
        """One summary a metric so far; an evaluator that never scored has one too, with n = 0."""
        return list(self.summaries_by_score(method).values())

    def summaries_by_score(self, method: IntervalMethod | None) -> dict[str, Summary]:
        """The same by the name of the score, "" for an evaluator's only metric."""
        metrics = dict(self.metrics)
        for name in [*self.metric_failures, *([] if metrics or self.metric_failures else [""])]:
            if name not in metrics:
                metrics[name] = self._new_accumulator(name, "number")
        return {
            name: metric.summary(method)._replace(
                metric=self.instance.metric(name),
                skipped=self.skipped,
                errors=self.errors + self.metric_failures[name],
                cancelled=self.cancelled,
            )
            for name, metric in metrics.items()
        }

    def told(self, summaries: list[Summary]) -> list[Summary]:
        """Return the summaries without those of declared metrics that no record got; some need a param to be set.

        Where no record got any, the evaluator's main metric, which has its name, says what became of the records; an
        evaluator without a main metric keeps all.
        """
        failed = {self.instance.metric(name) for name in self.metric_failures}
        main = [one for one in summaries if one.metric == self.instance.metric("")]
        return [one for one in summaries if one.n or one.metric in failed] or main or summaries

    # -- outcomes -------------------------------------------------------------------------------------------------

    def _add_one_by_one(self, column: list[Outcome | None], clusters: Sequence[str] | None) -> None:
        for index, outcome in enumerate(column):
            if outcome is None or outcome[0] != "scored":
                continue
            try:
                checked = self._check.record(outcome[1])
            except BadScore as bad:
                self._take_error(column, index, bad_score_error(self.instance.info.ref, bad))
            else:
                self._add(checked.verdicts, None if clusters is None else [clusters[index]])
                self.scored += 1
                if checked.failures:
                    column[index] = ("scored", self._with_failures(outcome[1], checked.failures, 1))

    def _with_failures(self, scores: list[Any], failures: dict[str, BadScore], records: int) -> list[dict[str, Any]]:
        """The scores of an outcome with an error in place of each that cannot stand; counts these."""
        kept = []
        for score in scores:
            name = score.get("name") or ""
            if name not in failures:
                kept.append(score)
                continue
            body = bad_score_error(self.instance.info.ref, failures[name])
            kept.append({**({"name": name} if name else {}), "error": body})
            self._count(self.metric_errors.setdefault(name, Counter()), body["message"], records)
            self.metric_failures[name] += records
        return kept

    def _count_others(self, column: list[Outcome | None]) -> None:
        """Count what was not scored; what cannot be an outcome of this evaluator becomes an error."""
        for index, outcome in enumerate(column):
            kind, payload = outcome or UNANSWERED
            if kind == "scored" and not self._of_dataset:
                continue
            if kind == "state" and self._of_dataset and isinstance(payload, dict) and "state" in payload:
                continue
            if kind in ("skipped", "cancelled"):
                reason = _text(payload, "reason")
                column[index] = (kind, {"reason": reason})
                if kind == "cancelled":
                    self.cancelled += 1
                else:
                    self.skipped += 1
                    self._count(self.skip_reasons, reason, 1)
            else:
                self._take_error(column, index, self._error_body(kind, payload))

    def _error_body(self, kind: str, payload: Any) -> dict[str, Any]:
        if kind != "error":
            scope = self.instance.info.scope
            message = f"it answered {kind!r:.80}, which an evaluator of {scope} scope cannot"
            return bad_score_error(self.instance.info.ref, message)
        error = WireError.from_body(payload if isinstance(payload, dict) else {})
        if error.code in _RAISED and self._log:
            error = error._replace(hint=f"{error.hint} The pack's output is in {self._log}.".strip())
        return (error._replace(traceback=self._once(error.traceback)) if error.traceback else error).to_body()

    def _once(self, traceback: str) -> str:
        """The traceback, where none of its place came before; each process of a pack sends its own."""
        place = traceback.rpartition("\n")[0]
        if place in self._places or len(self._places) >= MAX_REASONS:
            return ""
        self._places.add(place)
        self.tracebacks.append(traceback)
        return traceback

    def _take_error(self, column: list[Outcome | None], index: int, error: dict[str, Any]) -> None:
        column[index] = ("error", error)
        self.errors += 1
        self._count(self.error_reasons, error["message"], 1)

    def _count(self, reasons: Counter[str], reason: str, times: int) -> None:
        if reason in reasons or len(reasons) < MAX_REASONS:
            reasons[reason] += times

    # -- metrics --------------------------------------------------------------------------------------------------

    def _add(self, verdicts: Sequence[Verdicts], clusters: Sequence[str] | None) -> None:
        for name, key, values in verdicts:
            metric = self.metrics.get(name) or self._accumulator(name, KINDS[key])
            metric.add(values, clusters)

    def _accumulator(self, name: str, kind: Kind) -> MetricAccumulator:
        metric = self.metrics[name] = self._new_accumulator(name, kind)
        return metric

    def _new_accumulator(self, name: str, kind: Kind) -> MetricAccumulator:
        return MetricAccumulator(
            self.instance.metric(name),
            self.instance.name,
            self._declared.get(name, OutputInfo(name, kind, higher_is_better=kind == "pass" or None)),
            level=self._level,
            keep_values=self._keep_values,
            clustered=self._clustered,
        )


def _of_scored(column: list[Outcome | None], clusters: Sequence[str] | None) -> Sequence[str] | None:
    if clusters is None:
        return None
    return [cluster for cluster, outcome in zip(clusters, column, strict=True) if outcome and outcome[0] == "scored"]


def _text(payload: Any, key: str) -> str:
    text = payload.get(key) if isinstance(payload, dict) else None
    return text if isinstance(text, str) else ""
