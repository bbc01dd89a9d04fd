"""Owns the rows as a page carries them: compact JSON, deflated and in base64, with texts cut so that all of it fits.

It must not know how a page shows them; page/data.js reads what is written here.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from .columns import Column
from .details import Detail, Reply, Text
from .report import ReportData
from .shown_text import visible

# The longest that a text may be where something is bad, and where nothing is.
_LADDER = ((4000, 4000), (4000, 2000), (2000, 1000), (1200, 600), (700, 300), (400, 160), (200, 80), (80, 40), (0, 0))
_SAMPLE = 200
_FIELDS = {"input": "i", "output": "o", "reference": "r", "context": "c", "trajectory": "t", "metadata": "m"}
_LEVEL = 6
_CODES = {"scored": "s", "skipped": "k", "error": "e", "cancelled": "c"}


class Embedded(NamedTuple):
    """The rows, ready to be put into a page.

    Args:
        data: base64 of the deflated JSON.
        longest: how long a text of a row that is bad may be, and one of a row that is not; None where none was cut.
    """

    data: str
    longest: tuple[int, int] | None


def embed(report: ReportData, budget_bytes: int) -> Embedded:
    """Pack the rows into at most `budget_bytes`, with texts as long as fit."""
    columns = _columns(report)
    replies = {ref: place for place, ref in enumerate(report.details.replies)}
    packed = ""
    for bad_limit, limit in _LADDER[_first_step(report, replies, columns, budget_bytes) :]:
        rows = [_row(report, row, replies, bad_limit if report.bad[row] > 0 else limit) for row in report.shown]
        models = [_reply(reply, bad_limit) for reply in report.details.replies.values()]
        packed = _packed({**columns, "rows": rows, "replies": models})
        if len(packed) <= budget_bytes:
            is_cut = _was_cut(report, bad_limit, limit)
            return Embedded(packed, (bad_limit, limit) if is_cut else None)
    return Embedded(packed, _LADDER[-1])


def _first_step(report: ReportData, replies: Mapping[str, int], columns: Mapping[str, Any], budget_bytes: int) -> int:
    """Where on the ladder to begin, judged by a sample of the rows, since to pack all of them takes its time."""
    every = max(1, len(report.shown) // _SAMPLE)
    if every == 1:
        return 0
    sample = report.shown[::every]
    fixed = len(_packed(columns))
    for step, (bad_limit, limit) in enumerate(_LADDER):
        rows = [_row(report, row, replies, bad_limit if report.bad[row] > 0 else limit) for row in sample]
        models = [_reply(reply, bad_limit) for reply in list(report.details.replies.values())[::every]]
        # Neighbours pack better together than a sample does, so that what nearly fits is tried.
        if fixed + len(_packed([rows, models])) * every * 0.9 <= budget_bytes:
            return step
    return len(_LADDER) - 1


def _columns(report: ReportData) -> dict[str, Any]:
    """What every row has: ids, trials, scores and outcomes."""
    folded, shown = report.folded, report.shown
    metrics = [metric for metric in report.metrics if metric.column is not None]
    bad = report.bad
    return {
        "metrics": [
            [
                visible(metric.name),
                visible(metric.evaluator),
                metric.kind,
                metric.higher_is_better,
                metric.unit and visible(metric.unit),
            ]
            for metric in metrics
        ],
        "evaluators": [visible(name) for name in folded.marks],
        "labels": [[visible(label) for label in metric.column.labels] if metric.column else [] for metric in metrics],
        "ids": [visible(folded.rows.ids[row]) for row in shown],
        "trials": [folded.rows.trials[row] for row in shown] if report.trials > 1 else None,
        "scores": [_scores(metric.column, metric.kind, shown) for metric in metrics],
        "outcomes": ["".join("-skec"[marks[row]] for row in shown) for marks in folded.marks.values()],
        "bad": [round(bad[row], 4) for row in shown],
        "latency": [_known(folded.usage["latency_ms"][row], 0) for row in shown]
        if "latency_ms" in folded.usage
        else None,
        "took": _times(report) if folded.times_ms else None,
        "cost": [_known(folded.usage["cost_usd"][row], 6) for row in shown] if "cost_usd" in folded.usage else None,
    }


def _times(report: ReportData) -> list[list[float | None] | None]:
    """How many milliseconds each row took, a list an evaluator; None of one that never waits."""
    found = [report.folded.times_ms.get(evaluator) for evaluator in report.folded.marks]
    return [
        None if one is None else [_known(one[row], 0 if one[row] >= 1 else 1) for row in report.shown] for one in found
    ]


def _scores(column: Column | None, kind: str, shown: Sequence[int]) -> list[Any]:
    assert column is not None
    convert: Callable[[float], Any] = (lambda value: float(f"{value:.6g}")) if kind == "number" else int
    return [None if isnan(value := column[row]) else convert(value) for row in shown]


def _known(value: float, digits: int) -> float | None:
    return None if isnan(value) else round(value, digits)


def _row(report: ReportData, row: int, replies: Mapping[str, int], limit: int) -> dict[str, Any]:
    detail = report.details.rows.get(row) or Detail()
    found: dict[str, Any] = {
        _FIELDS[name]: [_text(text, limit) for text in texts] for name, texts in detail.fields.items()
    }
    if detail.failed:
        found["f"] = detail.failed
    places = {name: place for place, name in enumerate(report.folded.marks)}
    said = []
    for one in detail.said:
        refs = [replies[ref] for ref in one.refs if ref in replies]
        entry: dict[str, Any] = {}
        if one.explanations:
            entry["x"] = {visible(metric): _text(text, limit) for metric, text in one.explanations.items()}
        if one.reason is not None:
            entry["r"] = _text(one.reason, max(limit, 200))
        if one.code:
            entry["e"] = [visible(one.code), one.hint]
        if refs:
            entry["j"] = refs
        if entry:
            entry["v"] = places[one.evaluator]
            said.append(entry)
    if said:
        found["s"] = said
    return found


def _reply(reply: Reply, limit: int) -> list[Any]:
    found = [visible(reply.model), _text(reply.text, limit)]
    return [*found, reply.problem] if reply.problem else found


def _text(text: Text, limit: int) -> Any:
    shown = text.cut(limit)
    return [shown.text, shown.missing] if shown.missing else shown.text


def _was_cut(report: ReportData, bad_limit: int, limit: int) -> bool:
    for row, detail in report.details.rows.items():
        most = bad_limit if report.bad[row] > 0 else limit
        texts = [text for field in detail.fields.values() for text in field]
        texts += [text for said in detail.said for text in said.explanations.values()]
        if any(text.cut(most).missing for text in texts):
            return True
    return any(reply.text.cut(bad_limit).missing for reply in report.details.replies.values())


def _packed(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflater.compress(text.encode()) + deflater.flush()).decode()
