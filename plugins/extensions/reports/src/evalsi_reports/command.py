"""Owns the command `evalsi report`: flags in, reports out.

It must not know how a report looks.
"""

from __future__ import annotations

import argparse
import sys

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import UsageError

from .figures import size
from .html_page import html_page
from .json_digest import json_digest
from .judged import comparer
from .junit import junit
from .markdown_page import markdown_page
from .named_results import results_named
from .output import FORMATS, Output, parse_outputs, write_whole
from .redaction import parse_redaction
from .report import ReportData, read_report

OK = 0
MOST_WORST = 200


class Report:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        add = parser.add_argument
        add(
            "results",
            type=results_named,
            metavar="RESULTS",
            help="results file of `evalsi eval` or `evalsi run`, or a run here by its id",
        )
        add(
            "-o",
            "--output",
            action="append",
            default=[],
            metavar="FILE",
            help="write there: .html, .md, .json or .junit.xml; - is standard output; may be given several times",
        )
        add("--format", choices=FORMATS, help="the form, whatever the file's name (md on standard output)")
        add(
            "--baseline",
            type=results_named,
            metavar="FILE",
            help="an earlier results file, or run: show what changed since",
        )
        add(
            "--worst",
            "--examples",
            type=int,
            default=10,
            metavar="N",
            help="show the N lowest-scoring records first (10)",
        )
        add("--title", metavar="TEXT", help="title of the report")
        add(
            "--redact",
            nargs="?",
            const="inputs,outputs",
            metavar="PARTS",
            help="withhold inputs, outputs or both (default), and all that may quote them",
        )
        add(
            "--keep-metadata",
            action="store_true",
            help="with --redact, show the records' metadata and slices all the same",
        )
        add("--junit-records", action="store_true", help="in JUnit, make each record a test too, not the gates alone")
        add("--quiet", action="store_true", help="no line about what was written")

    def run(self, options: argparse.Namespace) -> int:
        """Check, read, write."""
        redaction = parse_redaction(options.redact, keeps_metadata=options.keep_metadata)
        if not 0 <= options.worst <= MOST_WORST:
            raise UsageError(f"--worst is {options.worst}.", f"Use 0 to {MOST_WORST}.")
        read = [options.results] if options.baseline is None else [options.results, options.baseline]
        outputs = parse_outputs(options.output, options.format, *read)
        needs_all = any(one.form == "html" or (one.form == "junit" and options.junit_records) for one in outputs)
        report = read_report(
            options.results,
            redaction=redaction,
            baseline=options.baseline,
            compare=None if options.baseline is None else comparer(self._toolkit),
            worst_count=options.worst,
            title=options.title,
            all_rows=needs_all,
        )
        for output in outputs:
            _write(report, output, options)
        return OK


def _write(report: ReportData, output: Output, options: argparse.Namespace) -> None:
    text = _text(report, output.form, with_records=options.junit_records)
    if output.path is None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
        return
    written_bytes = write_whole(output.path, text)
    if not options.quiet:
        print(f"{output.path} · {size(written_bytes)} · {report.headline.word.lower()}", file=sys.stderr)


def _text(report: ReportData, form: str, *, with_records: bool) -> str:
    if form == "html":
        return html_page(report)
    if form == "md":
        return markdown_page(report)
    return json_digest(report) if form == "json" else junit(report, with_records=with_records)
