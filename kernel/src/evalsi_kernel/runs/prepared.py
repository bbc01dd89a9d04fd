"""A run's spec checked in full: evaluators, gates, conditions and data, before anything is asked or paid for.

It must not know a target.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalsi_kernel.errors import DatasetError, OutputError, UsageError
from evalsi_kernel.extensions.asking import (
    condition_language,
    interval_method,
    open_source,
    read_baseline,
    stopping_rule,
)
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.gates.conditions import EVALUATOR_VARIABLES, Condition
from evalsi_kernel.gates.precheck import GatePlan, plan_gates
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.planning.planning import Plan, make_plan
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.mapping import Path, add_mapping
from evalsi_kernel.records.rows_source import RowsSource
from evalsi_kernel.records.sources import Source
from evalsi_kernel.request import Listener
from evalsi_kernel.runs.opening import settings_with_budget
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.runs.request import RunRequest
from evalsi_kernel.runs.spec import Spec
from evalsi_kernel.scores.intervals import IntervalMethod

if TYPE_CHECKING:
    from evalsi_kernel.packs.catalog import Catalog


class Prepared(NamedTuple):
    """A run whose spec has been checked in full."""

    request: RunRequest
    plan: Plan
    gates: GatePlan
    conditions: Mapping[int, Condition]
    method: IntervalMethod | None
    source: Source
    mapping: Mapping[str, Path]
    extensions: Extensions
    listener: Listener

    @property
    def spec(self) -> Spec:
        """What the run does."""
        return self.request.document.spec


def prepare(request: RunRequest, catalog: Catalog, extensions: Extensions, listener: Listener) -> Prepared:
    """Check a run and start the processes of its packs.

    Raises:
        EvalsiError: something of the spec cannot be.
    """
    spec = request.document.spec
    models = settings_with_budget(request.models, spec.budget)
    plan = make_plan(
        [_wanted(request, number) for number in range(len(spec.evaluators))],
        {},
        catalog,
        None,
        concurrency=request.concurrency,
        processes=request.processes,
        models=models,
        on_progress=listener.on_note,
    )
    try:
        return _prepared(request._replace(models=models), plan, extensions, listener)
    except BaseException:
        plan.abandon()
        raise


def _wanted(request: RunRequest, number: int) -> Wanted:
    one = request.document.spec.evaluators[number]
    # A user's own file stands beside the spec, as its data does.
    ref = f"{request.folder}/{one.ref}" if one.ref.startswith(("./", "../")) else one.ref
    return Wanted(ref, one.name, one.params, when=one.when)


def _prepared(request: RunRequest, plan: Plan, extensions: Extensions, listener: Listener) -> Prepared:
    spec = request.document.spec
    gates = plan_gates(
        spec.gates,
        plan.instances,
        trials=spec.trials,
        folder=request.folder,
        language=lambda: condition_language(extensions),
        baseline=partial(read_baseline, extensions),
    )
    if spec.stop_when_decided is not None and spec.gates:
        # A run that could not stop early is refused before its records are read, let alone paid for.
        stopping_rule(extensions)
    conditions = {
        one.session: condition_language(extensions).compile(one.when, EVALUATOR_VARIABLES)
        for one in plan.instances
        if one.when is not None
    }
    method = None if spec.summary.ci_method == "auto" else interval_method(spec.summary.ci_method, extensions)
    mapping: dict[str, Path] = {}
    for field, path in spec.dataset.mapping.items():
        add_mapping(mapping, field, path)
    source = _source(request, extensions)
    return Prepared(request, plan, gates, conditions, method, source, mapping, extensions, listener)


def _source(request: RunRequest, extensions: Extensions) -> Source:
    data = request.document.spec.dataset
    if data.inline is not None:
        return RowsSource(data.inline.records, "spec.dataset.inline")
    if data.uri is not None:
        return open_source(data.uri, extensions)
    if data.path == "-":
        raise UsageError("A run cannot read its data from standard input: it could not go on later.", "Name a file.")
    return open_source(str(request.folder / (data.path or "")), extensions)


def read_records(prepared: Prepared) -> tuple[Intake, RecordStore]:
    """All records, checked before anything is asked or paid for.

    Raises:
        DatasetError: a record cannot be read, or there is none.
        OutputError: the folder of runs cannot be written.
    """
    spec = prepared.spec
    intake = Intake(prepared.source, prepared.mapping, spec.dataset.limit, spec.summary.cluster_by)
    runs = prepared.request.runs
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{runs} cannot be made: {error.strerror}.", "Name another folder with --runs.") from error
    records = RecordStore(intake, runs)
    if not len(records):
        raise DatasetError(f"{prepared.source.name} has no records.", "Give it some.", code="dataset.empty")
    return intake, records
