"""Owns `evalsi run`: flags in, the verdict and the numbers out, and an exit code that a pull request can trust.

It must not know how a run is done.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.runs.request import RunEnd, RunRequest
from evalsi_kernel.runs.run import execute
from evalsi_kernel.runs.run_folder import RUNS

from .ci_source import source_of
from .errors_told import with_errors_told
from .foresight import foresee
from .run_told import foreseen_text, markdown_of, text_of
from .spec_file import add_spec, read_spec, run_name, spec_named

OK, ERROR, GATE_FAILED = 0, 1, 3


class Run:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        add = parser.add_argument
        add_spec(parser, "the run's spec, YAML or JSON")
        add("--output", type=Path, metavar="FILE", help="write results.json there too")
        add("--format", choices=("table", "json", "markdown"), default="table", help="what to print")
        add("--fresh", action="store_true", help="begin a new run, though the last one is not finished")
        add("--retry-errors", action="store_true", help="do again what failed in the last run, and nothing else")
        add("--runs", type=Path, default=RUNS, metavar="DIR", help="where runs lie (.evalsi/runs)")
        add("--concurrency", type=int, metavar="N", help="records in flight where evaluators wait")
        add("--processes", type=int, metavar="N", help="processes of a pack that computes (one a core)")
        add(
            "--prices",
            type=Path,
            metavar="FILE",
            help="prices of the target (TOML) that go before those that come along",
        )
        add("--quiet", action="store_true", help="no progress and no notices")
        add("--verbose", action="store_true", help="show what evaluators print and log, as it comes")
        self._toolkit.add_model_flags(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Run, print, and say what should be known."""
        # A dry run of a run is about its target too, so it needs no judge.
        foresees, options.dry_run = options.dry_run, False
        extensions = default_extensions()
        file = spec_named(options)
        document = read_spec(file, extensions)
        request = RunRequest(
            document,
            run_name(document, file),
            file.parent,
            spec_file=str(file),
            runs=options.runs,
            models=self._toolkit.models_of(options),
            output=options.output,
            fresh=options.fresh,
            retry_errors=options.retry_errors,
            concurrency=options.concurrency,
            processes=options.processes,
            source=source_of(),
            prices=options.prices,
        )
        with self._toolkit.listening(quiet=options.quiet, verbose=options.verbose) as listener:
            if foresees:
                foreseen = foresee(request, default_catalog(), extensions, listener)
                print(
                    self._toolkit.as_json(foreseen._asdict()) if options.format == "json" else foreseen_text(foreseen)
                )
                return OK
            end = with_errors_told(execute(request, default_catalog(), extensions, listener=listener))
        print(self._told(end, options.format))
        code = self._toolkit.print_findings(end.evaluation, quiet=options.quiet)
        if not options.quiet:
            print(f"results: {end.results}", file=sys.stderr)
        return exit_code(end, code)

    def _told(self, end: RunEnd, form: str) -> str:
        if form == "json":
            return self._toolkit.as_json(as_dict(end))
        return markdown_of(end) if form == "markdown" else text_of(end, self._toolkit.paint)


def exit_code(end: RunEnd, told: int) -> int:
    """The exit code of a run.

    Args:
        end: what came of it.
        told: what its findings and its error stand for.

    Returns:
        3 where a gate failed or could not be decided; where the run did not come to its end, or something else is
        wrong, what that stands for; 0 otherwise.
    """
    if end.state in ("error", "cancelled"):
        return told or ERROR
    return GATE_FAILED if end.verdict in ("fail", "undecided") else told


def as_dict(end: RunEnd) -> dict[str, Any]:
    """A run as JSON; its results are in the file that `results` names."""
    return {
        "id": end.run_id,
        "state": end.state,
        "verdict": end.verdict,
        "items": end.items,
        "done": end.done,
        "kept": end.kept,
        "reason": end.reason,
        "results": str(end.results),
        **end.evaluation.to_dict(),
    }
