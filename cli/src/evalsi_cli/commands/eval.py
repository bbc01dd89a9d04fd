"""`evalsi eval`: score existing outputs.

Results go to stdout as a table, Markdown or JSON; everything else goes to stderr.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalsi_cli.completions import complete_evaluators
from evalsi_cli.faults import OK, tell_evaluation
from evalsi_cli.models import add_model_flags, models_of, preview_text
from evalsi_cli.terminal import ProgressLine, as_json, listener_of
from evalsi_cli.wanted import wanted_evaluators
from evalsi_kernel.evaluation.evaluation import evaluate
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.params import parse_param_assignments
from evalsi_kernel.records.mapping import parse_mapping
from evalsi_kernel.request import Request

if TYPE_CHECKING:
    from evalsi_kernel.results.evaluated import Evaluation


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add = parser.add_argument
    add(
        "--data",
        required=True,
        metavar="PATH",
        help="JSONL, JSON, CSV, TSV, Excel or Parquet (also .gz, .zst), hf://…, - for stdin",
    )
    evaluators = add(
        "--evaluators",
        required=True,
        metavar="A,B",
        action="append",
        help="names, ./file.py:function or module:function; name=evaluator renames one",
    )
    evaluators.completer = complete_evaluators  # type: ignore[attr-defined]
    add(
        "--map",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="read a field from this column; dots select nested values",
    )
    add(
        "--param",
        action="append",
        default=[],
        metavar="NAME.KEY=VALUE",
        help="set a param; the value is JSON if it parses as JSON, else text",
    )
    add("--limit", type=int, metavar="N", help="score only the first N records")
    add(
        "--concurrency",
        type=int,
        metavar="N",
        help="maximum records in progress for asynchronous evaluators (16; for a judge the number of calls)",
    )
    add("--processes", type=int, metavar="N", help="worker processes of each synchronous pack (one per core)")
    add("--record-timeout", type=float, metavar="S", help="seconds per record for your own evaluators (60)")
    add("--cluster-by", metavar="KEY", help="metadata key of correlated records, for cluster-robust intervals")
    add("--confidence", type=float, default=0.95, metavar="LEVEL", help="confidence level of the intervals (0.95)")
    add("--ci", default="auto", metavar="METHOD", help="method of the intervals: auto or bootstrap")
    add("--output", type=Path, metavar="FILE", help="write the results to this JSON file")
    add("--format", choices=("table", "json", "markdown"), default="table", help="output format")
    add("--quiet", action="store_true", help="show no progress and no notes")
    add("--verbose", action="store_true", help="show what evaluators print and log")
    add_model_flags(parser)


def run(options: argparse.Namespace) -> int:
    """Score, and print the results and findings."""
    progress = ProgressLine(options.limit, quiet=options.quiet)
    request = Request(
        data=options.data,
        evaluators=wanted_evaluators(options.evaluators),
        params=parse_param_assignments(options.param),
        mapping=parse_mapping(options.map),
        limit=options.limit,
        concurrency=options.concurrency,
        processes=options.processes,
        cluster_by=options.cluster_by,
        confidence=options.confidence,
        ci=options.ci,
        models=models_of(options),
        output=options.output,
    )
    if options.record_timeout is not None:
        request = request._replace(record_timeout_s=options.record_timeout)
    try:
        evaluation = evaluate(request, default_catalog(), listener=listener_of(progress, verbose=options.verbose))
    finally:
        progress.clear()
    if evaluation.preview is not None:
        preview = evaluation.preview
        print(as_json(preview.to_dict()) if options.format == "json" else preview_text(preview))
        return OK
    print(rendered(evaluation, options.format))
    return tell_evaluation(evaluation, quiet=options.quiet)


def rendered(evaluation: Evaluation, form: str) -> str:
    """Return the evaluation as a table, Markdown or JSON."""
    if form == "json":
        return as_json(evaluation.to_dict())
    from evalsi_kernel.results.table import (  # Imported late: the run imports it while its packs start.
        markdown_table,
        text_table,
    )

    make = markdown_table if form == "markdown" else text_table
    return make(evaluation.records, len(evaluation.instances), evaluation.summaries, evaluation.status.value)
