"""Owns the report as JUnit XML, for the pages of tests that GitLab, Jenkins and others show.

Each gate is a test. Records are tests only where that is asked for: such pages call a build failed as soon as one test
is, and a run may pass its gates with records that failed. It must not know how a results file is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan
from typing import NamedTuple
from xml.etree import ElementTree

from .columns import CANCELLED, ERROR, SKIPPED
from .details import Detail, Said
from .figures import counted, figure, interval
from .gate_words import Gate
from .headline import NOT_FINISHED
from .metrics import Metric
from .report import ReportData
from .shown_text import visible

# What XML 1.0 cannot hold, whichever way it is written.
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 4_000


class _Case(NamedTuple):
    """One test: `outcome` is "", failure, error or skipped."""

    name: str
    outcome: str = ""
    message: str = ""
    text: str = ""


def junit(report: ReportData, *, with_records: bool = False) -> str:
    """The report as XML.

    Args:
        report: what to show.
        with_records: whether each record is a test of each pass/fail metric too.
    """
    suites = [("gates", list(_gates(report)))] if report.gates else [("metrics", list(_metrics(report)))]
    if report.headline.word == NOT_FINISHED:
        suites.insert(0, ("run", [_Case("finished", "error", NOT_FINISHED, report.headline.sentence)]))
    if with_records:
        suites += [
            (metric.name, list(_records(report, metric)))
            for metric in report.metrics
            if metric.is_check and metric.column is not None
        ]
    everything = [case for _, cases in suites for case in cases]
    root = ElementTree.Element("testsuites", {"name": _fit(report.title), **_counts(everything)})
    for name, cases in suites:
        _suite(root, report, name, cases)
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _suite(root: ElementTree.Element, report: ReportData, name: str, cases: list[_Case]) -> None:
    started = str(report.manifest.get("started_at") or "")[:19]
    attributes = {"name": _fit(name), **_counts(cases), "skipped": str(_count(cases, "skipped"))}
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", started):
        attributes["timestamp"] = started
    suite = ElementTree.SubElement(root, "testsuite", attributes)
    for case in cases:
        found = ElementTree.SubElement(
            suite, "testcase", {"name": _fit(case.name), "classname": _fit(f"evalsi.{name}"), "time": "0"}
        )
        if case.outcome:
            told = ElementTree.SubElement(found, case.outcome, {"message": _fit(case.message)})
            if case.outcome != "skipped":
                told.set("type", f"evalsi.{case.outcome}")
            told.text = _fit(case.text) or None


def _gates(report: ReportData) -> Iterator[_Case]:
    # Where the spec says that undecided passes, the run has passed, and its undecided gates are no errors.
    is_lenient = report.headline.verdict == "pass"
    seen: dict[str, int] = {}
    for gate in report.gates:
        times = seen[gate.name] = seen.get(gate.name, 0) + 1
        name = gate.name if times == 1 else f"{gate.name} ({times})"
        outcome = {"pass": "", "fail": "failure", "not applicable": "skipped"}.get(
            gate.verdict, "skipped" if is_lenient else "error"
        )
        yield _Case(name, outcome, gate.reason or gate.verdict, _measured(gate))


def _measured(gate: Gate) -> str:
    told = f"{gate.metric} is {gate.shown} {interval(gate.low, gate.high)}, n {gate.n:,}"
    return f"{told}, {counted(gate.errors, 'error')}, {gate.skipped:,} skipped"


def _metrics(report: ReportData) -> Iterator[_Case]:
    """Without gates nothing can fail: a metric that has no score is an error, if records failed, or skipped."""
    for metric in report.metrics:
        told = f"n {metric.n:,}, {counted(metric.errors, 'error')}, {metric.skipped:,} skipped"
        if metric.cancelled:
            told = f"{told}, {metric.cancelled:,} not done"
        if metric.n:
            yield _Case(f"{metric.name} {figure(metric.mean)}")
        else:
            is_error = metric.errors or metric.cancelled
            yield _Case(metric.name, "error" if is_error else "skipped", f"no score: {told}", told)


def _records(report: ReportData, metric: Metric) -> Iterator[_Case]:
    rows, column = report.folded.rows, metric.column
    marks = report.folded.marks.get(metric.evaluator)
    assert column is not None
    for row in report.shown:
        name = rows.ids[row] if report.trials == 1 else f"{rows.ids[row]} (trial {rows.trials[row]})"
        mark = marks[row] if marks is not None else 0
        detail = report.details.rows.get(row)
        said = next((one for one in detail.said if one.evaluator == metric.evaluator), None) if detail else None
        if not isnan(column[row]):
            if column[row]:
                yield _Case(name)
            else:
                why = said.explanations.get(metric.name) if said else None
                message = why.text if why else f"{metric.name} failed"
                yield _Case(name, "failure", message, _texts(detail))
        elif mark in (ERROR, SKIPPED, CANCELLED):
            reason = _reason(said) or ("cancelled: the run ended before it was done" if mark == CANCELLED else "")
            yield _Case(name, "skipped" if mark == SKIPPED else "error", reason, _texts(detail))


def _reason(said: Said | None) -> str:
    return said.reason.text if said and said.reason else ""


def _texts(detail: Detail | None) -> str:
    fields = detail.fields if detail else {}
    shown = [
        f"{name}: {text.text[:_LONGEST]}" for name in ("input", "output", "reference") for text in fields.get(name, ())
    ]
    return "\n".join(shown)


def _counts(cases: list[_Case]) -> dict[str, str]:
    counts = {"failures": _count(cases, "failure"), "errors": _count(cases, "error")}
    return {"tests": str(len(cases)), **{name: str(count) for name, count in counts.items()}, "time": "0"}


def _count(cases: list[_Case], outcome: str) -> int:
    return sum(case.outcome == outcome for case in cases)


def _fit(text: str) -> str:
    return _UNFIT.sub("\ufffd", visible(text))
