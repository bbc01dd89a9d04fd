"""Owns `evalsi shadow`: recorded inputs answered by a candidate, and compared with what was recorded.

It must not know how two runs are compared: that is the command `compare`, which gets their results.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.extensions.hook_calls import command
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.runs.request import RunEnd, RunRequest
from evalsi_kernel.runs.run import execute
from evalsi_kernel.runs.run_folder import RUNS
from evalsi_kernel.runs.spec import BudgetSpec, RunDocument, TargetSpec

from .ci_source import source_of
from .errors_told import with_errors_told
from .foresight import foresee
from .run_command import exit_code
from .run_told import foreseen_text
from .spec_file import add_spec, read_spec, run_name, spec_named

OK = 0
_RECORDED = "-recorded"


class Shadow:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        add = parser.add_argument
        add_spec(parser, "the candidate's spec; its data have outputs")
        add("--runs", type=Path, default=RUNS, metavar="DIR", help="where runs lie (.evalsi/runs)")
        add(
            "--fail-on-regression",
            nargs="*",
            metavar="METRIC[:MAX_DROP]",
            help="exit with 3 where a metric is worse, as `evalsi compare` does",
        )
        add("--format", choices=("table", "json", "markdown"), default="table", help="what to print")
        add("-o", "--output", metavar="FILE", help="write the comparison there too: .html, .md or .json")
        add("--quiet", action="store_true", help="no progress and no notices")
        self._toolkit.add_model_flags(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Score what was recorded, run the candidate, compare; a dry run foresees the candidate."""
        foresees, options.dry_run = options.dry_run, False
        options.file = spec_named(options)
        document = read_spec(options.file, default_extensions())
        name = run_name(document, options.file)
        if foresees:
            with self._toolkit.listening(quiet=options.quiet) as listener:
                request = self._request(document, name, options)
                print(foreseen_text(foresee(request, default_catalog(), default_extensions(), listener)))
            return OK
        compare = command("compare", self._toolkit, default_extensions())
        parser = argparse.ArgumentParser(prog="evalsi compare")
        compare.configure(parser)
        results = []
        # What was recorded comes first: it is free, and where it lacks something nothing is paid for the candidate.
        for one, called in ((as_recorded(document), f"{name}{_RECORDED}"), (document, name)):
            end = self._run(one, called, options)
            code = exit_code(end, self._toolkit.print_findings(end.evaluation, quiet=options.quiet))
            if end.state in ("error", "cancelled"):
                return code
            results.append(str(end.results))
        words = [*results, "--format", options.format]
        words += [] if options.output is None else ["--output", options.output]
        if options.fail_on_regression is not None:
            words += ["--fail-on-regression", *options.fail_on_regression]
        return compare.run(parser.parse_args(words)) or code

    def _run(self, document: RunDocument, name: str, options: argparse.Namespace) -> RunEnd:
        with self._toolkit.listening(quiet=options.quiet) as listener:
            request = self._request(document, name, options)
            return with_errors_told(execute(request, default_catalog(), default_extensions(), listener=listener))

    def _request(self, document: RunDocument, name: str, options: argparse.Namespace) -> RunRequest:
        return RunRequest(
            document,
            name,
            options.file.parent,
            spec_file=str(options.file),
            runs=options.runs,
            models=self._toolkit.models_of(options),
            source=source_of(),
        )


def as_recorded(document: RunDocument) -> RunDocument:
    """The same evaluation of the outputs that the data have: nobody is asked, and nothing is gated."""
    budget = document.spec.budget
    changed = {
        "target": TargetSpec(connector="replay"),
        "trials": 1,
        "gates": [],
        "stop_when_decided": None,
        "budget": BudgetSpec(max_judge_tokens=budget.max_judge_tokens, max_judge_usd=budget.max_judge_usd),
    }
    return document.model_copy(update={"spec": document.spec.model_copy(update=changed)})
