"""Owns the command `evalsi calibrate`: flags in, a report out, and a record of it in a file.

It must not know how a figure is computed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import EvalsiError, UsageError
from evalsi_kernel.evaluation.evaluation import evaluate
from evalsi_kernel.extensions.hook_calls import open_source
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.params import parse_param_assignments
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.records.mapping import parse_mapping
from evalsi_kernel.request import Request

from .agreement import agreement_of
from .calibration_file import write_calibration
from .comparison import Comparison, comparison_of
from .labelled_data import LabelledData, read_labelled
from .pairs import Paired, pair_up
from .record import Calibrated, record_of
from .scale import Scale, parse_scale
from .text_report import markdown_report, text_report
from .two_outputs import OTHER, compares_two, longer_by

if TYPE_CHECKING:
    from evalsi_kernel.results.evaluated import Evaluation

OK = 0
_OUTCOMES = {"skipped": "skipped", "error": "failed", "cancelled": "not answered"}


class Calibrate:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the flags."""
        add = parser.add_argument
        add("--data", required=True, metavar="PATH", help="records that people labelled; all that `evalsi eval` reads")
        add("--evaluator", required=True, metavar="NAME", help="the evaluator to compare with people; one")
        add(
            "--label",
            default="human",
            metavar="KEY",
            help="column or metadata key of the label; dots reach inside (human)",
        )
        add("--label-scale", metavar="LOW-HIGH", help="the scale of labels that are numbers, such as 1-5")
        add("--threshold", type=float, metavar="X", help="from which of its numbers on the evaluator passes a record")
        add("--map", action="append", default=[], metavar="FIELD=COLUMN", help="which column is which field")
        add("--param", action="append", default=[], metavar="NAME.KEY=VALUE", help="set a param of the evaluator")
        add("--limit", type=int, metavar="N", help="read the first N records only")
        add(
            "--concurrency",
            type=int,
            metavar="N",
            help="records in flight where evaluators wait (16; for a judge as many as calls)",
        )
        add("--confidence", type=float, default=0.95, metavar="LEVEL", help="level of the intervals (0.95)")
        add("--output", type=Path, metavar="FILE", help="write the record of the calibration there, as JSON")
        add("--format", choices=("table", "json", "markdown"), default="table", help="what to print")
        add("--quiet", action="store_true", help="no progress and no notices")
        self._toolkit.add_model_flags(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Read, score, compare, print."""
        run = _Run(options, self._toolkit)
        with self._toolkit.listening(total=len(run.data.labels), quiet=options.quiet) as listener:
            evaluation = evaluate(run.request, default_catalog(), listener=listener, check=run.settle)
        if evaluation.preview is not None:
            preview = evaluation.preview
            as_json = options.format == "json"
            print(self._toolkit.as_json(preview.to_dict()) if as_json else self._toolkit.preview_text(preview))
            return OK
        calibrated = run.calibrated(evaluation)
        if not calibrated.agreement.n:
            raise evaluation.error or _nothing_compared(calibrated)
        record = record_of(calibrated)
        if options.format == "json":
            print(self._toolkit.as_json(record))
        else:
            print(markdown_report(calibrated) if options.format == "markdown" else text_report(calibrated))
        if options.output is not None:
            write_calibration(options.output, record)
        return self._toolkit.print_findings(evaluation, quiet=options.quiet)


class _Run:
    """One use of the command: what is asked for, and how it is compared, once that is settled.

    Raises:
        EvalsiError: what is asked for cannot be, or the data has no labels.
    """

    def __init__(self, options: argparse.Namespace, toolkit: Toolkit) -> None:
        self._label = options.label
        self._threshold: float | None = options.threshold
        self._label_scale: Scale | None = parse_scale(options.label_scale) if options.label_scale else None
        self._level: float = options.confidence
        self._settled: tuple[Instance, Comparison] | None = None
        mapping = parse_mapping(options.map)
        wanted = _only(toolkit.wanted_evaluators([options.evaluator]))
        params = parse_param_assignments(options.param)
        models = toolkit.models_of(options)
        if not options.label:
            raise UsageError("--label is empty.", "Name the column, or the metadata key, of the labels.")
        # Checked before the data is read; the record goes where results would.
        request = Request(
            options.data,
            [wanted],
            params=params,
            limit=options.limit,
            concurrency=options.concurrency,
            confidence=options.confidence,
            models=models,
            output=options.output,
            keep_results=True,
        )
        request.check()
        self.data: LabelledData = read_labelled(
            open_source(options.data, default_extensions()), options.label, mapping, options.limit
        )
        self.request = request._replace(data=self.data.source, limit=None, output=None)

    def settle(self, instances: Sequence[Instance]) -> None:
        """Settle how the evaluator is compared, before it scores anything; raises `EvalsiError` where it cannot be."""
        if len(instances) != 1:
            names = ", ".join(instance.name for instance in instances)
            raise UsageError(f"--evaluator names {len(instances)} evaluators: {names}.", "Name one of them.")
        comparison = comparison_of(
            instances[0], self.data.labels, threshold=self._threshold, label_scale=self._label_scale
        )
        self._settled = instances[0], comparison

    def calibrated(self, evaluation: Evaluation) -> Calibrated:
        """Compare what was scored with what people say."""
        assert self._settled is not None
        if evaluation.spool is None:
            # The disk was full, and what was scored is lost.
            raise evaluation.error or EvalsiError("The results were not kept.", "Run it again.")
        instance, comparison = self._settled
        try:
            paired = pair_up(evaluation.spool.results(), self.data.labels, comparison)
        finally:
            evaluation.spool.close()
        return Calibrated(
            manifest=evaluation.manifest,
            instance=instance,
            comparison=comparison,
            label=self._label,
            data=self.data.source.name,
            sha256=self.data.sha256,
            records=self.data.records,
            labelled=len(self.data.labels),
            paired=paired,
            agreement=agreement_of(paired.pairs, comparison, self._level, self._lengths(instance, paired)),
            level=self._level,
            bill=evaluation.summaries[0].judge,
        )

    def _lengths(self, instance: Instance, paired: Paired) -> dict[str, int] | None:
        if not compares_two(instance):
            return None
        compared = {pair.record_id for pair in paired.pairs}
        lengths = {
            record["id"]: longer_by(record, instance.params[OTHER])
            for _, record in self.data.source.records
            if record["id"] in compared
        }
        return {record_id: length for record_id, length in lengths.items() if length is not None}


def _only(wanted: Sequence[Wanted]) -> Wanted:
    if len(wanted) != 1:
        raise UsageError(f"--evaluator names {len(wanted)} evaluators.", "Name one; calibrate another by itself.")
    return wanted[0]


def _nothing_compared(calibrated: Calibrated) -> EvalsiError:
    """What to say where no record was scored: the commonest reason, and the hint of the first error."""
    paired, name = calibrated.paired, calibrated.instance.name
    error = paired.error or {}
    code, hint = str(error.get("code", "config.invalid")), str(error.get("hint", ""))
    told = [f"{count:,} {_OUTCOMES[outcome]}" for outcome, count in paired.left_out.items() if count]
    reason = next((reason for _, reason in paired.reasons), "").rstrip(".")
    message = f"No record could be compared with {name}: {', '.join(told)}{f': {reason}' if reason else ''}."
    return EvalsiError(message, hint, code=code)
