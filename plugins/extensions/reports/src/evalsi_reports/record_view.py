"""Owns a record as a page and Markdown show it without any script: its texts, what evaluators said, raw replies.

It must not know HTML or Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import NamedTuple

from .columns import Numbers
from .details import Detail, Reply, Said, Text
from .figures import figure, milliseconds
from .metrics import Metric
from .report import ReportData
from .shown_text import one_line

_LABELS = {
    "output": "Output",
    "reference": "Reference",
    "input": "Input",
    "context": "Context",
    "trajectory": "Steps",
    "metadata": "Metadata",
}
_ORDER = ("input", "output", "reference", "context", "trajectory", "metadata")
_MOST_OF_A_FIELD = 8


class ShownText(NamedTuple):
    """A text under its label; `kind` is the field that it comes from."""

    label: str
    kind: str
    shown: Text


class Chip(NamedTuple):
    """A metric and its score, short."""

    name: str
    text: str
    tone: str


class ShownSaid(NamedTuple):
    """What an evaluator said: its score or outcome, how long it took, why, and the raw replies that it rests on."""

    name: str
    text: str
    tone: str
    took: str
    why: tuple[Text, ...]
    code: str
    hint: str
    replies: tuple[Reply, ...]


class RecordView(NamedTuple):
    """A record in one trial."""

    id: str
    trial: str
    excerpt: str
    failed: str
    chips: tuple[Chip, ...]
    texts: tuple[ShownText, ...]
    said: tuple[ShownSaid, ...]


def record_view(report: ReportData, row: int, limit: int) -> RecordView:
    """A row for a person, each text at most `limit` characters long."""
    detail = report.details.rows.get(row) or Detail()
    rows = report.folded.rows
    trial = f"trial {rows.trials[row]} of {report.trials}" if report.trials > 1 else ""
    if trial and (failed := report.failed_trials.get(rows.ids[row])):
        trial += f", {failed} failed"
    first = next((detail.fields[name][0].text for name in ("input", "output") if detail.fields.get(name)), "")
    return RecordView(
        id=rows.ids[row],
        trial=trial,
        excerpt=one_line(first, 120),
        failed=f"The target gave no output: {detail.failed}" if detail.failed else "",
        chips=tuple(_chips(report, row)),
        texts=tuple(_texts(detail, limit)),
        said=tuple(_said(report, row, said, limit) for said in detail.said),
    )


def score_of(metric: Metric, row: int) -> Chip | None:
    """A metric's score on a row; None where it has none."""
    column = metric.column
    if column is None or isnan(column[row]):
        return None
    if metric.kind == "pass" and not metric.is_check:
        return Chip(metric.name, "yes" if column[row] else "no", "plain")
    if metric.kind == "pass":
        return Chip(metric.name, "pass" if column[row] else "fail", "pass" if column[row] else "fail")
    if column.labels:
        return Chip(metric.name, one_line(column.label(row) or "", 40), "plain")
    unit = f" {metric.unit}" if metric.unit else ""
    return Chip(metric.name, f"{figure(column[row])}{unit}", "plain")


def _chips(report: ReportData, row: int) -> Iterator[Chip]:
    for metric in report.metrics:
        chip = score_of(metric, row)
        if chip is not None and (metric.is_quality or chip.tone == "fail"):
            yield chip


def _texts(detail: Detail, limit: int) -> Iterator[ShownText]:
    for name in _ORDER:
        texts = detail.fields.get(name, [])
        for place, text in enumerate(texts[:_MOST_OF_A_FIELD], 1):
            label = _LABELS[name] if len(texts) == 1 else f"{_LABELS[name]} {place} of {len(texts)}"
            yield ShownText(label, name, text.cut(limit))


def _said(report: ReportData, row: int, said: Said, limit: int) -> ShownSaid:
    scores = [
        chip
        for metric in report.metrics
        if metric.evaluator == said.evaluator and (chip := score_of(metric, row)) is not None
    ]
    if said.outcome != "scored":
        text, tone = said.outcome, "error" if said.outcome == "error" else "skipped"
    else:
        text = ", ".join(chip.text if chip.name == said.evaluator else f"{chip.name} {chip.text}" for chip in scores)
        tone = next((chip.tone for chip in scores if chip.tone == "fail"), scores[0].tone if scores else "plain")
    why = [explanation.cut(limit) for explanation in dict.fromkeys(said.explanations.values())]
    if said.reason is not None and said.reason.text:
        why.append(said.reason.cut(limit))
    took_ms = report.folded.times_ms.get(said.evaluator, Numbers())[row]
    replies = (report.details.replies.get(ref) for ref in said.refs)
    return ShownSaid(
        name=said.evaluator,
        text=text,
        tone=tone,
        took="" if isnan(took_ms) else milliseconds(took_ms),
        why=tuple(why),
        code=said.code,
        hint=said.hint,
        replies=tuple(reply._replace(text=reply.text.cut(limit)) for reply in replies if reply is not None),
    )
