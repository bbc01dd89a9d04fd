"""Owns the report as JSON for programs: verdict, gates, metrics, failures, errors, and what changed.

docs/reference/report.schema.json fixes its form; `report_version` grows when a reader of the old form would misread the
new one. It must not know how a results file is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .changes import Changes
from .columns import CANCELLED, ERROR, SKIPPED
from .expenses import expenses
from .gate_words import Gate
from .headline import NOT_FINISHED
from .metrics import Metric
from .overview import failed_rows
from .reasons import Reason
from .record_view import score_of
from .report import ReportData
from .shown_text import visible

REPORT_VERSION = 1


def json_digest(report: ReportData) -> str:
    """The digest, indented."""
    return json.dumps(digest(report), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def digest(report: ReportData) -> dict[str, Any]:
    """The report as JSON values."""
    folded, manifest = report.folded, report.manifest
    return {
        "report_version": REPORT_VERSION,
        "title": report.title,
        "source": report.source,
        "verdict": None if report.headline.verdict == "none" else report.headline.verdict,
        "sentence": report.headline.sentence,
        "notices": list(report.headline.notices),
        "status": manifest.get("status"),
        "finished": report.headline.word != NOT_FINISHED,
        "redacted": [name for name in ("inputs", "outputs") if getattr(report.redaction, name)],
        "counts": {
            "records": len(set(folded.rows.ids)),
            "trials": report.trials,
            "items": len(folded.rows),
            "failed": failed_rows(report),
            "errors": folded.rows_with(ERROR),
            "skipped": folded.rows_with(SKIPPED),
            "cancelled": folded.rows_with(CANCELLED),
        },
        "gates": [_gate(gate) for gate in report.gates],
        "metrics": [_metric(metric) for metric in report.metrics],
        "slices": [
            {"by": one.by, "value": one.value, "metrics": [_metric(metric) for metric in one.metrics]}
            for one in report.slices
        ],
        "changes": None if report.changes is None else _changes(report.changes, report.baseline),
        "failures": [_failure(report, row) for row in report.worst],
        "errors": [_reason(group) for group in folded.errors.groups],
        "skips": [_reason(group) for group in folded.skips.groups],
        "expenses": [{"of": fact.of, "what": fact.label, "text": fact.text} for fact in expenses(folded)],
        "run": _run(manifest),
    }


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "name": visible(gate.name),
        "metric": gate.metric,
        "stat": gate.stat,
        "slice": gate.slice or None,
        "verdict": gate.verdict,
        "value": gate.value,
        "low": gate.low,
        "high": gate.high,
        "min": gate.least,
        "max": gate.most,
        "n": gate.n,
        "errors": gate.errors,
        "skipped": gate.skipped,
        "reason": gate.reason,
    }


def _metric(metric: Metric) -> dict[str, Any]:
    has_interval = metric.low is not None and metric.high is not None
    return {
        "metric": visible(metric.name),
        "evaluator": visible(metric.evaluator),
        "kind": metric.kind,
        "n": metric.n,
        "mean": metric.mean,
        "ci": {"low": metric.low, "high": metric.high, "level": metric.level, "method": metric.method}
        if has_interval
        else None,
        "skipped": metric.skipped,
        "errors": metric.errors,
        "cancelled": metric.cancelled,
        "unit": metric.unit,
        "higher_is_better": metric.higher_is_better,
        "labels": {visible(label): count for label, count in metric.labels.items()},
    }


def _changes(changes: Changes, baseline: str) -> dict[str, Any]:
    return {
        "baseline": baseline,
        "notes": list(changes.notes),
        "errors": changes.errors,
        "metrics": [
            {
                "metric": visible(change.metric.name),
                "before": change.before,
                "now": change.metric.mean,
                "difference": change.difference,
                "low": change.low,
                "high": change.high,
                "direction": change.direction,
                "clear": change.is_clear,
                "not_comparable": visible(change.not_comparable) or None,
                "pairs": change.paired,
                "lost": [visible(one) for one in change.lost],
                "won": [visible(one) for one in change.won],
            }
            for change in changes.metrics
        ],
        "new": [visible(name) for name in changes.new],
        "gone": [visible(name) for name in changes.gone],
    }


def _failure(report: ReportData, row: int) -> dict[str, Any]:
    detail = report.details.rows.get(row)
    scores = {visible(chip.name): chip.text for metric in report.metrics if (chip := score_of(metric, row)) is not None}
    fields = {name: [text.text for text in texts] for name, texts in detail.fields.items()} if detail else {}
    reasons = [
        {"evaluator": visible(said.evaluator), "outcome": said.outcome, "text": text.text}
        for said in (detail.said if detail else ())
        for text in (*said.explanations.values(), *([said.reason] if said.reason else ()))
    ]
    rows = report.folded.rows
    return {
        "record_id": visible(rows.ids[row]),
        "trial": rows.trials[row],
        "scores": scores,
        "fields": fields,
        "reasons": reasons,
    }


def _reason(group: Reason) -> dict[str, Any]:
    return {
        "code": group.code or None,
        "message": group.message,
        "hint": group.hint or None,
        "source": group.source or None,
        "results": group.count,
        "records": group.records,
        "evaluators": {visible(name): count for name, count in group.evaluators.items()},
        "examples": [visible(one) for one in group.examples],
    }


def _run(manifest: Mapping[str, Any]) -> dict[str, Any]:
    names = ("run_id", "name", "project", "state", "started_at", "finished_at", "evalsi_version", "source")
    return {name: manifest.get(name) for name in names}
