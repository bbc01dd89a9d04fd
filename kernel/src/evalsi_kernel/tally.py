"""From a session's outcomes to its metrics: every score checked at the border, then added up in columns.

A score that cannot stand (NaN, out of its declared range, of another kind than before) turns into an error here and is
never averaged. It must not know how an interval is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from evalsi_kernel.chunks import Outcome
from evalsi_kernel.instances import Instance
from evalsi_kernel.pack_info import OutputInfo
from evalsi_kernel.summaries import IntervalMethod, MetricAccumulator, Summary

KINDS = {"passed": "pass", "value": "number", "label": "label"}
MAX_REASONS = 50


class BadScore(Exception):
    """A score that cannot stand, and why."""


class Tally:
    """Adds up one instance's outcomes."""

    def __init__(self, instance: Instance, level: float, *, keep_values: bool, clustered: bool) -> None:
        self.instance = instance
        self.skipped = self.errors = self.cancelled = self.scored = 0
        self.skip_reasons: Counter[str] = Counter()
        self.error_reasons: Counter[str] = Counter()
        self.metrics: dict[str, MetricAccumulator] = {}
        self._level = level
        self._keep_values = keep_values
        self._clustered = clustered
        self._declared = {output.name: output for output in instance.info.outputs}
        for output in instance.info.outputs:
            self._accumulator(output.name, output.kind)

    def add(self, column: list[Outcome | None], clusters: Sequence[str] | None) -> None:
        """Add a chunk's outcomes; those that cannot stand become errors in the column itself."""
        scored = [payload for kind, payload in column if kind == "scored"]  # type: ignore[misc]
        if not self._add_uniform(scored, _of_scored(column, clusters)):
            self._add_one_by_one(column, clusters)
            scored = [payload for kind, payload in column if kind == "scored"]  # type: ignore[misc]
        self.scored += len(scored)
        if len(scored) < len(column):
            self._count_others(column)

    def add_whole(self, outcome: Outcome, records: int) -> Outcome:
        """Add the outcome of a dataset-scope evaluator over so many records; gives it back, as an error when it is bad."""
        kind, payload = outcome
        if kind == "scored":
            try:
                checked = [(*self._check(score), score) for score in _score_list(payload)]
            except BadScore as bad:
                kind, payload = "error", bad_score_error(self.instance.info.ref, str(bad))
            else:
                for name, key, score in checked:
                    self._add_value(name, key, score[key], None)
                self.scored += records
                return outcome
        if kind == "skipped":
            self.skipped += records
            self._reason(self.skip_reasons, str(payload.get("reason", "")))
        else:
            self.errors += records
            self._reason(self.error_reasons, str(payload.get("message", "")))
        return kind, payload

    def summaries(self, method: IntervalMethod | None) -> list[Summary]:
        """One summary a metric; an evaluator that never scored has one too, with n = 0."""
        if not self.metrics:
            self._accumulator("", "number")
        for metric in self.metrics.values():
            metric.add_skipped(self.skipped)
            metric.add_errors(self.errors)
            metric.add_cancelled(self.cancelled)
        return [metric.summary(method) for metric in self.metrics.values()]

    # -- columns --------------------------------------------------------------------------------------------------

    def _add_uniform(self, scored: list[Any], clusters: Sequence[str] | None) -> bool:
        """The quick way, for outcomes that all look alike; False leaves everything to the slow way."""
        if not scored:
            return True
        try:
            width = len(scored[0])
            if set(map(len, scored)) != {width}:
                return False
            columns = []
            for position in range(width):
                column = [scores[position] for scores in scored]
                checked = self._uniform_column(column)
                if checked is None:
                    return False
                columns.append(checked)
        except (TypeError, KeyError, IndexError, AttributeError):
            return False
        if len({name for name, _, _ in columns}) < width:
            return False
        for name, key, values in columns:
            self._add_values(name, key, values, clusters)
        return True

    def _uniform_column(self, column: list[dict[str, Any]]) -> tuple[str, str, list[Any]] | None:
        keys = {key for shape in set(map(tuple, column)) for key in KINDS if key in shape}
        names = {score.get("name") for score in column}
        if len(keys) != 1 or len(names) != 1:
            return None
        key, name = keys.pop(), names.pop() or ""
        output = self._declared.get(name)
        if self._declared and output is None:
            return None
        if self._kind_of(name) not in (None, KINDS[key]):
            return None
        values = [score[key] for score in column]
        types = set(map(type, values))
        if key == "passed":
            good = types == {bool}
        elif key == "label":
            good = types == {str}
        else:
            good = types <= {float, int} and all(map(isfinite, values)) and _in_range(min(values), max(values), output)
        return (name, key, values) if good else None

    def _add_one_by_one(self, column: list[Outcome | None], clusters: Sequence[str] | None) -> None:
        for index, outcome in enumerate(column):
            if outcome is None or outcome[0] != "scored":
                continue
            try:
                checked = [(*self._check(score), score) for score in _score_list(outcome[1])]
            except BadScore as bad:
                column[index] = ("error", bad_score_error(self.instance.info.ref, str(bad)))
                continue
            for name, key, score in checked:
                self._add_value(name, key, score[key], clusters[index] if clusters else None)

    def _check(self, score: Any) -> tuple[str, str]:
        """The name and the key of a score that can stand."""
        if not isinstance(score, dict):
            raise BadScore(f"a score is {score!r}, which is not a map")
        keys = [key for key in KINDS if score.get(key) is not None]
        if len(keys) != 1:
            raise BadScore("a score needs exactly one of value, passed and label")
        key, name = keys[0], score.get("name") or ""
        value = score[key]
        if key == "passed" and type(value) is not bool:
            raise BadScore(f"passed is {value!r}, which is not true or false")
        if key == "label" and type(value) is not str:
            raise BadScore(f"label is {value!r}, which is not text")
        output = self._declared.get(name)
        if self._declared and output is None:
            raise BadScore(f"the score {name!r} is not among the declared outputs")
        if key == "value":
            if type(value) not in (int, float) or not isfinite(value):
                raise BadScore(f"value is {value!r}, which is not a finite number")
            if not _in_range(value, value, output):
                assert output is not None
                raise BadScore(f"value {value!r} is outside the declared range {_range_text(output)}")
        kind = self._kind_of(name)
        if kind not in (None, KINDS[key]):
            raise BadScore(f"it returned a {KINDS[key]} where it is declared, or began, to return a {kind}")
        return name, key

    # -- accumulators ---------------------------------------------------------------------------------------------

    def _kind_of(self, name: str) -> str | None:
        output = self._declared.get(name)
        if output is not None:
            return output.kind
        metric = self.metrics.get(name)
        return metric.kind if metric is not None else None

    def _accumulator(self, name: str, kind: str) -> MetricAccumulator:
        metric = self.metrics.get(name)
        if metric is None:
            output = self._declared.get(name, OutputInfo(name, kind))
            metric = self.metrics[name] = MetricAccumulator(
                self.instance.metric(name),
                self.instance.info.ref,
                output.kind,
                level=self._level,
                keep_values=self._keep_values,
                clustered=self._clustered,
                minimum=output.minimum,
                maximum=output.maximum,
                unit=output.unit,
                higher_is_better=output.higher_is_better,
            )
        return metric

    def _add_value(self, name: str, key: str, value: Any, cluster: str | None) -> None:
        self._add_values(name, key, [value], None if cluster is None else [cluster])

    def _add_values(self, name: str, key: str, values: list[Any], clusters: Sequence[str] | None) -> None:
        metric = self._accumulator(name, KINDS[key])
        if key == "passed":
            metric.add_passed(values, clusters)
        elif key == "value":
            metric.add_numbers(values, clusters)
        else:
            metric.add_labels(values)

    def _count_others(self, column: Iterable[Outcome | None]) -> None:
        for outcome in column:
            if outcome is None or outcome[0] == "cancelled":
                self.cancelled += 1
            elif outcome[0] == "skipped":
                self.skipped += 1
                self._reason(self.skip_reasons, str(outcome[1].get("reason", "")))
            elif outcome[0] == "error":
                self.errors += 1
                self._reason(self.error_reasons, str(outcome[1].get("message", "")))

    def _reason(self, reasons: Counter[str], reason: str) -> None:
        if reason in reasons or len(reasons) < MAX_REASONS:
            reasons[reason] += 1


def bad_score_error(ref: str, message: str) -> dict[str, Any]:
    """The error body for a score that cannot stand."""
    return {
        "code": "pack.bad_score",
        "message": f"{ref}: {message}.",
        "mend": "Mend the evaluator, or what it declares.",
        "blame": "pack",
        "retry": "no",
    }


def _score_list(payload: Any) -> list[Any]:
    if not isinstance(payload, list) or not payload:
        raise BadScore("it scored without a score")
    names = [score.get("name") for score in payload if isinstance(score, dict)]
    if len(set(names)) < len(names):
        raise BadScore("it gave two scores of one name")
    return payload


def _of_scored(column: list[Outcome | None], clusters: Sequence[str] | None) -> Sequence[str] | None:
    if clusters is None:
        return None
    return [cluster for cluster, outcome in zip(clusters, column, strict=True) if outcome and outcome[0] == "scored"]


def _in_range(low: float, high: float, output: OutputInfo | None) -> bool:
    if output is None:
        return True
    return (output.minimum is None or low >= output.minimum) and (output.maximum is None or high <= output.maximum)


def _range_text(output: OutputInfo) -> str:
    low = "-∞" if output.minimum is None else f"{output.minimum:g}"
    high = "∞" if output.maximum is None else f"{output.maximum:g}"
    return f"[{low}, {high}]"
