"""Owns a metric as a report shows it: its summary, its interval, and the scores behind it.

It must not know how it is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from evalsi_kernel.scores.moments import Moments

from .columns import CANCELLED, ERROR, SKIPPED, Column
from .folding import Folded
from .values import count, known_count, number, one_object, text


class Metric(NamedTuple):
    """One metric.

    Args:
        name, evaluator, ref: of it, and the evaluator that gives it with its version.
        kind: pass, number or label.
        n: scored records; only they enter `mean` and the interval.
        mean, std: None where undefined.
        low, high, level, method: of the interval; None where there is none.
        skipped, errors, cancelled: records without a score.
        labels: label → count, the most frequent first.
        unit: of a number that measures something, such as ms.
        higher_is_better: None where neither is.
        clusters: None where records count as independent.
        bill: what its questions to a judge took; None where it asks none.
        column: its score a row; None for a metric of the whole data, or of several trials together.
    """

    name: str
    evaluator: str
    ref: str
    kind: str
    n: int
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    level: float | None
    method: str | None
    skipped: int
    errors: int
    cancelled: int
    labels: Mapping[str, int]
    unit: str | None
    higher_is_better: bool | None
    clusters: int | None
    bill: Mapping[str, Any] | None
    column: Column | None

    @property
    def is_check(self) -> bool:
        """Whether a record can fail it: a pass/fail metric may also tell what is so, and neither is better."""
        return self.kind == "pass" and self.higher_is_better is True

    @property
    def is_quality(self) -> bool:
        """Whether it says how good an output is: what has a unit measures what it took."""
        return self.kind != "label" and not self.unit and self.higher_is_better is not None

    @property
    def span(self) -> tuple[float, float]:
        """The range to draw it on: 0 to 1 where all of it lies there, else from the least to the greatest."""
        known = self.column.known() if self.column is not None and self.kind != "label" else []
        known += [value for value in (self.low, self.high, self.mean) if value is not None]
        low, high = min(known, default=0.0), max(known, default=1.0)
        if low >= 0 and high <= 1:
            return 0.0, 1.0
        low = min(low, 0.0) if low < 0 or high - low > low else low
        return (low, high) if low < high else (low - 0.5, high + 0.5)


def metrics_of(folded: Folded) -> list[Metric]:
    """Every metric: those of the summaries in their order, then those that only have scores."""
    found = [metric_of(summary, folded) for summary in folded.head.summaries]
    named = {metric.name for metric in found}
    found += [_from_scores(name, column, folded) for name, column in folded.columns.items() if name not in named]
    return found


def metric_of(summary: Mapping[str, Any], folded: Folded | None = None) -> Metric:
    """A metric from its summary, with its scores where they are known; what a summary lacks is unknown."""
    interval = one_object(summary.get("ci"))
    name, evaluator = str(summary.get("metric")), str(summary.get("evaluator") or "")
    labels = {label: count(times) for label, times in one_object(summary.get("labels")).items() if count(times)}
    bill, better = summary.get("judge"), summary.get("higher_is_better")
    return Metric(
        name=name,
        evaluator=evaluator,
        ref=folded.refs.get(evaluator, evaluator) if folded else evaluator,
        kind=str(summary.get("kind") or "number"),
        n=count(summary.get("n")),
        mean=number(summary.get("mean")),
        std=number(summary.get("std")),
        low=number(interval.get("low")),
        high=number(interval.get("high")),
        level=number(interval.get("level")),
        method=text(interval.get("method")) or None,
        skipped=count(summary.get("skipped")),
        errors=count(summary.get("errors")),
        cancelled=count(summary.get("cancelled")),
        labels=labels,
        unit=text(summary.get("unit")) or None,
        higher_is_better=better if isinstance(better, bool) else None,
        clusters=known_count(summary.get("clusters")),
        bill=bill if isinstance(bill, dict) else None,
        column=folded.columns.get(name) if folded else None,
    )


def _from_scores(name: str, column: Column, folded: Folded) -> Metric:
    """A metric that no summary tells of, as in a file that was put together by hand."""
    known = column.known()
    moments = Moments()
    if column.kind != "label":
        moments.add(known)
    marks = folded.marks[column.evaluator]
    names = list(column.labels)
    counts = Counter(names[int(value)] for value in known) if names else Counter[str]()
    summary = {
        "metric": name,
        "evaluator": column.evaluator,
        "kind": column.kind,
        "n": len(known),
        "mean": moments.mean,
        "skipped": marks.count(SKIPPED),
        "errors": marks.count(ERROR),
        "cancelled": marks.count(CANCELLED),
        "labels": dict(counts.most_common()),
        "higher_is_better": True if column.kind == "pass" else None,
    }
    return metric_of(summary, folded)
