"""Owns the page: one file that needs nothing else, made of templates, style, script and rows.

It must not know how a results file is read. The templates escape all texts; only what `charts` draws is not.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from evalsi_kernel.version import VERSION

from .embedding import Embedded, embed
from .expenses import expenses
from .figures import counted
from .overview import (
    change_rows,
    distribution_cards,
    failed_rows,
    gate_rows,
    label_cards,
    metric_rows,
    slice_groups,
    tiles,
    trial_rows,
)
from .provenance_facts import blocks, short_facts, versions
from .reasons import Reasons
from .record_view import record_view
from .report import ReportData
from .shown_text import visible

MAX_BYTES = 3_000_000
_STATIC_CHARS = 400_000
_LONGEST = 4_000
_MOST_REASONS = 30
_SCRIPTS = ("dom", "data", "fields", "dialog", "list", "filters")
_PARTS = files("evalsi_reports") / "page"


def html_page(report: ReportData) -> str:
    """The page of a report; of 5,000 records of usual size at most 3 MB."""
    style = _read("page.css")
    script = f"(()=>{{'use strict';\n{''.join(_read(f'{name}.js') for name in _SCRIPTS)}}})();"
    context = _context(report) | {
        "style": Markup(style),
        "style_hash": _hash(style),
        "script": Markup(script),
        "script_hash": _hash(script),
    }
    template = _environment().get_template("page.html")
    bare = template.render(context | {"data": "", "cut": ""})
    embedded = embed(report, MAX_BYTES - len(bare.encode()) - 2_000)
    return template.render(context | {"data": Markup(embedded.data), "cut": _cut(report, embedded)})


def _context(report: ReportData) -> dict[str, Any]:
    longest = min(_LONGEST, _STATIC_CHARS // (6 * max(1, len(report.worst))))
    errors, skips = _reasons(report.folded.errors), _reasons(report.folded.skips)
    gates, metrics = gate_rows(report.gates), metric_rows(report.metrics)
    levels = {metric.level for metric in report.metrics if metric.level is not None}
    facts: dict[str, list[Any]] = {}
    for fact in expenses(report.folded):
        facts.setdefault(fact.of, []).append(fact)
    context = {
        "title": report.title,
        "source": report.source,
        "version": VERSION,
        "headline": report.headline,
        "notices": report.headline.notices[:12],
        "tiles": list(tiles(report)),
        "ran": short_facts(report),
        "gates": gates,
        "changes": change_rows(report),
        "baseline": report.baseline,
        "metrics": metrics,
        "level": f"{levels.pop() * 100:g} %" if len(levels) == 1 else "",
        "clustered": any(metric.clusters for metric in report.metrics),
        "worst": [record_view(report, row, longest) for row in report.worst],
        "worst_title": "What failed, and why" if _fails(report) else "Lowest-scoring records",
        "more_worst": _more_worst(report),
        "no_worst": "No scored record is below the best that its metrics can give." if report.folded.rows else "None.",
        "errors": errors,
        "skips": skips,
        "slices": slice_groups(report),
        "trials": report.trials,
        "shares": trial_rows(report),
        "distributions": distribution_cards(report),
        "labels": label_cards(report.metrics),
        "facts": list(facts.items()),
        "rows_told": _rows_told(report),
        "withheld": _withheld(report),
        "versions": versions(report),
        "blocks": blocks(report),
    }
    return context | {"sections": list(_sections(report, context))}


def _sections(report: ReportData, context: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Those that there are: place, name, count and its colour."""
    if report.gates:
        missed = sum(gate.verdict in ("fail", "undecided") for gate in report.gates)
        yield "gates", "Gates", f"{missed or len(report.gates)}", "fail" if missed else ""
    if report.changes is not None:
        yield "changed", "Changes", "", ""
    yield "metrics", "Metrics", f"{len(report.metrics)}", ""
    failed = failed_rows(report)
    yield "lowest", "Failed" if failed else "Lowest", f"{failed:,}" if failed else "", "fail" if failed else ""
    for place, name, key, tone in (("errors", "Errors", "errors", "error"), ("skipped", "Skipped", "skips", "")):
        if context[key]:
            yield place, name, context[key]["total"], tone
    for place, name, key in (
        ("slices", "Slices", "slices"),
        ("trials", "Trials", "shares"),
        ("distributions", "Distributions", "distributions"),
        ("cost", "Cost", "facts"),
    ):
        if context[key]:
            yield place, name, "", ""
    yield "records", "All records", f"{len(report.folded.rows):,}", ""
    yield "versions", "What ran", "", ""


def _reasons(reasons: Reasons) -> dict[str, Any] | None:
    groups = reasons.groups
    if not groups:
        return None
    left_out = groups[_MOST_REASONS:]
    return {
        "rows": [
            {
                "records": f"{group.records or group.count:,}",
                "message": group.message,
                "code": group.code,
                "hint": group.hint,
                "evaluators": ", ".join(group.evaluators),
                "examples": group.examples,
            }
            for group in groups[:_MOST_REASONS]
        ],
        "more": f"{counted(len(left_out), 'more reason')} in the results file." if left_out else "",
        "total": f"{sum(group.records or group.count for group in groups):,}",
    }


def _fails(report: ReportData) -> bool:
    return bool(report.worst) and failed_rows(report) > 0


def _more_worst(report: ReportData) -> tuple[str, str] | None:
    if _fails(report):
        failed = failed_rows(report)
        return (f"All {failed:,} that failed", "failed") if failed > len(report.worst) else None
    return ("All records, the lowest first", "all") if len(report.folded.rows) > len(report.worst) else None


def _rows_told(report: ReportData) -> str:
    total, shown = len(report.folded.rows), len(report.shown)
    noun = "item" if report.trials > 1 else "record"
    if shown < total:
        return f"the {shown:,} lowest-scoring of {counted(total, noun)}; the results file has all of them"
    return counted(total, noun)


def _withheld(report: ReportData) -> str:
    redaction = report.redaction
    if not redaction.any:
        return ""
    parts = " and ".join(
        name for name, is_hidden in (("inputs", redaction.inputs), ("outputs", redaction.outputs)) if is_hidden
    )
    kept = "" if redaction.keeps_metadata else ", metadata"
    return (
        f"Withheld by --redact: {parts}, and what may quote them: references, contexts, explanations, reasons, "
        f"raw replies{kept}."
    )


def _cut(report: ReportData, embedded: Embedded) -> str:
    if embedded.longest is None:
        return ""
    bad, good = embedded.longest
    if bad == good:
        told = f"Texts of more than {bad:,} characters are cut in this list"
    else:
        told = f"Texts are cut in this list: to {bad:,} characters where a score is low, to {good:,} elsewhere"
    return f"{told}, so that the page stays small; each says how much is missing. {report.source} has all of it."


def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def _shown(value: Any) -> Any:
    return visible(value) if type(value) is str else value


def _read(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
