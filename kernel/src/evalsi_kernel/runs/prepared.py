"""A run's spec checked in full: evaluators, gates, conditions and data, before anything is asked or paid for.

It must not know a target.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalsi_kernel.errors import DatasetError, OutputError, UsageError
from evalsi_kernel.extensions.hook_calls import (
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
from evalsi_kernel.planning.plan import Plan, make_plan
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.mapping import Path as FieldPath
from evalsi_kernel.records.mapping import add_mapping
from evalsi_kernel.records.rows_source import RowsSource
from evalsi_kernel.records.sources import Source
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.runs.opening import settings_with_budget
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.runs.request import RunRequest
from evalsi_kernel.runs.spec import EvaluatorSpec, Spec
from evalsi_kernel.scores.intervals import IntervalMethod

if TYPE_CHECKING:
    from evalsi_kernel.packs.catalog import Catalog


class Prepared(NamedTuple):
    """A run whose spec has been checked in full; `evaluation` is how its numbers are made and told, from its data."""

    request: RunRequest
    evaluation: Request
    source: Source
    plan: Plan
    gates: GatePlan
    conditions: Mapping[int, Condition]
    method: IntervalMethod | None
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
    request = request._replace(models=settings_with_budget(request.models, request.document.spec.budget))
    evaluation = _as_evaluation(request)
    plan = make_plan(evaluation, catalog, on_progress=listener.on_note)
    try:
        return _prepared(request, evaluation, plan, extensions, listener)
    except BaseException:
        plan.abandon()
        raise


def _as_evaluation(request: RunRequest) -> Request:
    """The run as the request of an evaluation, but for its data, which is opened while the packs start."""
    spec = request.document.spec
    mapping: dict[str, FieldPath] = {}
    for field, path in spec.dataset.mapping.items():
        add_mapping(mapping, field, path)
    return Request(
        data="",
        evaluators=[_wanted(one, request.folder) for one in spec.evaluators],
        mapping=mapping,
        limit=spec.dataset.limit,
        concurrency=request.concurrency,
        processes=request.processes,
        cluster_by=spec.summary.cluster_by or ("id" if spec.trials > 1 else None),
        confidence=spec.summary.confidence_level,
        ci=spec.summary.ci_method,
        models=request.models,
    )


def _wanted(one: EvaluatorSpec, folder: Path) -> Wanted:
    ref = one.ref
    if ref.startswith(("./", "../")):
        # A user's own file stands beside the spec, as its data does. What begins so names a file and nothing else.
        beside = str(folder / ref)
        ref = beside if beside.startswith(("/", "..")) else f"./{beside}"
    return Wanted(ref, one.name, one.params, when=one.when)


def _prepared(
    request: RunRequest, evaluation: Request, plan: Plan, extensions: Extensions, listener: Listener
) -> Prepared:
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
    method = None if evaluation.ci == "auto" else interval_method(evaluation.ci, extensions)
    source = _source(request, extensions)
    return Prepared(request, evaluation, source, plan, gates, conditions, method, extensions, listener)


def _source(request: RunRequest, extensions: Extensions) -> Source:
    data = request.document.spec.dataset
    if data.inline is not None:
        return RowsSource(data.inline.records, "spec.dataset.inline")
    if data.uri is not None:
        return open_source(data.uri, extensions, request.folder)
    if data.path == "-":
        raise UsageError("A run cannot read its data from standard input: it could not go on later.", "Name a file.")
    return open_source(str(request.folder / (data.path or "")), extensions)


def read_records(prepared: Prepared) -> tuple[Intake, RecordStore]:
    """All records, checked before anything is asked or paid for.

    Raises:
        DatasetError: a record cannot be read, or there is none.
        OutputError: the folder of runs cannot be written.
    """
    evaluation, cluster_by = prepared.evaluation, prepared.spec.summary.cluster_by
    intake = Intake(prepared.source, evaluation.mapping, evaluation.limit, cluster_by)
    runs = prepared.request.runs
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{runs} cannot be made: {error.strerror}.", "Name another folder with --runs.") from error
    records = RecordStore(intake, runs)
    if not len(records):
        raise DatasetError(f"{prepared.source.name} has no records.", "Give it some.", code="dataset.empty")
    return intake, records
