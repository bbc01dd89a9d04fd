"""Owns the command `evalsi analyze`: flags in, rows out.

It must not know a table.
"""

from __future__ import annotations

import argparse
import glob
from collections.abc import Sequence
from pathlib import Path

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import UsageError
from evalsi_kernel.runs.run_folder import RUNS, all_runs

from .answers import Answer, as_csv, as_objects, as_table
from .library import require_duckdb

OK = 0


class Analyze:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the actions and their flags."""
        actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
        summary = "ask with SQL"
        query = actions.add_parser(
            "query", help=summary, description="Ask the tables runs, scores and records with SQL."
        )
        query.add_argument(
            "sql", metavar="SQL", help="one question, such as: select model, count(*) from runs group by 1"
        )
        _add_load_flags(query)
        summary = "a metric by the values of a metadata key"
        slicing = actions.add_parser("slice", help=summary, description=f"{summary.capitalize()}, for each run.")
        slicing.add_argument("metric", metavar="METRIC", help="the metric")
        slicing.add_argument(
            "--by", required=True, metavar="KEY", help="metadata key of the records; dots reach inside"
        )
        slicing.add_argument("--level", type=float, default=0.95, metavar="LEVEL", help="level of the intervals (0.95)")
        _add_load_flags(slicing)

    def run(self, options: argparse.Namespace) -> int:
        """Load, ask, print."""
        if options.action is None:
            raise UsageError("`evalsi analyze` needs to know what to do.", "Give query or slice.")
        level = getattr(options, "level", 0.95)
        if not 0 < level < 1:
            raise UsageError(f"--level is {level:g}.", "Give a level between 0 and 1, such as 0.95.")
        if options.limit is not None and options.limit < 1:
            raise UsageError(f"--limit is {options.limit}.", "Give 1 or more.")
        files = named_files(options.results)
        if not files and (options.db is None or not options.db.exists()):
            files = [run.results for run in all_runs(RUNS) if run.results.exists()]
            if not files:
                raise UsageError("There is nothing to ask about: no run is here.", "Name results files with --results.")
        require_duckdb()
        # Both import DuckDB, which takes longer than all else here.
        from .asking import asked

        answer = asked(options, files)
        self._print(answer, options.format)
        return OK

    def _print(self, answer: Answer, form: str) -> None:
        if form == "json":
            print(self._toolkit.as_json(as_objects(answer)))
        else:
            print(as_csv(answer) if form == "csv" else as_table(answer))


def named_files(words: Sequence[str]) -> list[Path]:
    """The files that names and patterns stand for, each once; raises `UsageError` for one that stands for none."""
    found: list[Path] = []
    for word in words:
        # A file whose name looks like a pattern is itself.
        paths = [word] if Path(word).exists() else sorted(glob.glob(word, recursive=True))
        if not paths:
            what = "matches no file" if glob.has_magic(word) else "is not there"
            raise UsageError(f"--results {word} {what}.", "Check the path.")
        found += [Path(path) for path in paths]
    return list(dict.fromkeys(found))


def _add_load_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--results",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="results files; patterns such as 'a-*.json' (what --db keeps, or else every run here)",
    )
    add("--db", type=Path, metavar="FILE", help="keep the tables there, and load each file once")
    add("--label", action="append", default=[], metavar="NAME=VALUE", help="only runs with this label; repeatable")
    add("--project", metavar="NAME", help="only runs of this project")
    add("--run", dest="run_ids", action="append", default=[], metavar="ID", help="only this run; repeatable")
    add("--limit", type=int, metavar="N", help="only the newest N runs")
    add("--format", choices=("table", "csv", "json"), default="table", help="how to print the rows")
