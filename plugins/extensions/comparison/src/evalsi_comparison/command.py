"""Owns the command `evalsi compare`: flags in, a comparison out.

It must not know how a difference is tested.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import UsageError
from evalsi_kernel.extensions.hook_calls import interval_method
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.files.atomic_file import atomic_file
from evalsi_kernel.files.output_check import check_output
from evalsi_kernel.runs.run_folder import RUNS, all_runs

from .comparison import Comparison, Wanted, compare, compare_any
from .difference import Settings
from .json_report import differences, json_report
from .regression import parse_watched
from .text_report import markdown_report, text_report

OK, REGRESSED = 0, 3
AUTO = "auto"
_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json", ".txt": "table"}


class Compare:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        add = parser.add_argument
        add("base", type=results_named, metavar="BASE", help="what there was: a results file, or a run here by its id")
        add("candidate", type=results_named, metavar="CANDIDATE", help="what is new, likewise")
        add("--metric", action="append", default=[], metavar="NAME", help="compare this metric only; repeatable")
        add("--confidence", type=float, default=0.95, metavar="LEVEL", help="level of intervals and tests (0.95)")
        add("--ci", default=AUTO, metavar="METHOD", help="how intervals are made: auto or bootstrap (auto)")
        add("--cluster-by", metavar="KEY", help="metadata key of records that are correlated (that of both runs)")
        add(
            "--fail-on-regression",
            nargs="*",
            action="extend",
            metavar="METRIC[:MAX_DROP]",
            help="exit with 3 where a metric is significantly worse, or worse by more than a drop, "
            "or has more errors (all metrics)",
        )
        add(
            "--limit",
            type=int,
            default=10,
            metavar="N",
            help="show N records a metric that got worse, and N better (10)",
        )
        add("--format", choices=("table", "json", "markdown"), default="table", help="what to print")
        add(
            "-o", "--output", type=Path, metavar="FILE", help="write a page (.html), Markdown (.md) or JSON (.json) too"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Read both files, compare, print."""
        wanted = _wanted(options)
        form = None if options.output is None else form_of(options.output)
        if options.output is not None:
            check_output(options.output, options.base, options.candidate)
        found = compare(wanted)
        # A reader of standard output may leave early, and the file is there all the same.
        if options.output is not None and form is not None:
            with atomic_file(options.output) as file:
                file.write(f"{self._report(found, form).rstrip()}\n".encode())
        print(self._report(found, options.format))
        return REGRESSED if found.failed else OK

    def differences(self, base: Path, candidate: Path) -> dict[str, Any]:
        """What is said of two files without any flag, for `evalsi report --baseline`, which says the same.

        Args:
            base, candidate: paths of results files, which may be the same.

        Returns:
            `metrics`, each as in the JSON of a comparison and with the ids of its records that changed, and
            `cluster_by`.

        Raises:
            ConfigError: as `compare` raises.
        """
        return differences(compare_any(Wanted(base, candidate, limit=0)))

    def _report(self, found: Comparison, form: str) -> str:
        if form == "html":
            # The library of pages loads in the time of a whole comparison.
            from .page import html_report

            return html_report(found)
        if form == "markdown":
            return markdown_report(found)
        if form == "json":
            return self._toolkit.as_json(json_report(found))
        return text_report(found)


def results_named(word: str) -> Path:
    """The results file that a word names: a path, or the id of a run here."""
    path = Path(word)
    run = None if path.exists() else next((run for run in all_runs(RUNS) if run.id == word), None)
    return path if run is None else run.results


def form_of(path: Path) -> str:
    """The form of a report by the end of its file's name; raises `UsageError` for another one."""
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path} is neither a page nor Markdown nor JSON.", "End it with .html, .md or .json.")
    return form


def _wanted(options: argparse.Namespace) -> Wanted:
    """What the flags ask for; raises `UsageError`."""
    if not 0 < options.confidence < 1:
        raise UsageError(f"--confidence is {options.confidence:g}.", "Give a level between 0 and 1, such as 0.95.")
    if options.limit < 0:
        raise UsageError(f"--limit is {options.limit}.", "Give 0 or more.")
    if options.cluster_by == "":
        raise UsageError("--cluster-by is empty.", "Name the metadata key of the clusters, or leave it out.")
    method = None if options.ci == AUTO else interval_method(options.ci, default_extensions())
    return Wanted(
        options.base,
        options.candidate,
        Settings(options.confidence, method),
        options.metric,
        options.cluster_by,
        None if options.fail_on_regression is None else parse_watched(options.fail_on_regression),
        options.limit,
    )
