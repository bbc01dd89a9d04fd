"""A run from end to end: begun or continued, worked on, summed up, gated, written. The door for every host.

It must not know a terminal, a file format, a target or a pack.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.broker.reply_log import ReplyLog
from evalsi_kernel.errors import DatasetError, EvalsiError, OutputError, UsageError
from evalsi_kernel.event_loop import run_in_loop, stopped_by_interrupt
from evalsi_kernel.extensions import Extensions, condition_language, interval_method, open_source
from evalsi_kernel.gates.conditions import EVALUATOR_VARIABLES, Condition
from evalsi_kernel.gates.early_stopping import EarlyStopping
from evalsi_kernel.gates.precheck import GatePlan, plan_gates
from evalsi_kernel.intake import Intake
from evalsi_kernel.intervals import IntervalMethod
from evalsi_kernel.mapping import Path, add_mapping
from evalsi_kernel.planning import Plan, Wanted, make_plan
from evalsi_kernel.request import NOBODY, Listener, Request
from evalsi_kernel.rows_source import RowsSource
from evalsi_kernel.run_scores import RunScores
from evalsi_kernel.runs.attempt import STOPPED, Attempt
from evalsi_kernel.runs.beginning import Begun, begin
from evalsi_kernel.runs.folding import entries_of
from evalsi_kernel.runs.following import Following
from evalsi_kernel.runs.generation import Generation, Halt, Usage, bounds_of
from evalsi_kernel.runs.history import State
from evalsi_kernel.runs.manifest import target_usage
from evalsi_kernel.runs.opening import Ready, caller_of, scorers, settings_with_budget, target_of
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.runs.request import RunEnd, RunRequest
from evalsi_kernel.runs.scoring import Scoring
from evalsi_kernel.runs.spec import Spec
from evalsi_kernel.runs.summing import Summing
from evalsi_kernel.runs.target import Target
from evalsi_kernel.sources import Source
from evalsi_kernel.status import Ending, Status
from evalsi_protocol.errors import WireError

if TYPE_CHECKING:
    from evalsi_kernel.catalog import Catalog

STOPPING = "stopping; what is finished is kept, and the same command goes on (Ctrl-C again stops at once)"
ORDER_SEED = 0


class _Prepared(NamedTuple):
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
        return self.request.document.spec


def execute(request: RunRequest, catalog: Catalog, extensions: Extensions, *, listener: Listener = NOBODY) -> RunEnd:
    """Run and wait for it; Ctrl-C ends it in an orderly way, and the same request goes on later.

    Args:
        request: what to run, and how.
        catalog: where evaluators are found.
        extensions: where targets, data, connectors and conditions come from.
        listener: hears how it goes; `on_records` gets the number of items that are done.

    Raises:
        EvalsiError: something is wrong before the target is asked. A fault on the way ends the run in the state `error`
            instead, with what came until then summed up and written.
    """
    if request.output is not None:
        from evalsi_kernel.output_check import check_output

        check_output(request.output)
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
        prepared = _prepared(request._replace(models=models), plan, extensions, listener)
        store = _records(prepared)
    except BaseException:
        plan.abandon()
        raise
    return run_in_loop(lambda: _run(prepared, *store))


def _wanted(request: RunRequest, number: int) -> Wanted:
    one = request.document.spec.evaluators[number]
    # A user's own file stands beside the spec, as its data does.
    ref = str(request.folder / one.ref) if one.ref.startswith(("./", "../")) else one.ref
    return Wanted(ref, one.name, one.params, when=one.when)


def _prepared(request: RunRequest, plan: Plan, extensions: Extensions, listener: Listener) -> _Prepared:
    spec = request.document.spec
    gates = plan_gates(spec.gates, plan.instances, trials=spec.trials, folder=request.folder, extensions=extensions)
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
    return _Prepared(request, plan, gates, conditions, method, source, mapping, extensions, listener)


def _source(request: RunRequest, extensions: Extensions) -> Source:
    data = request.document.spec.dataset
    if data.inline is not None:
        return RowsSource(data.inline.records, "spec.dataset.inline")
    if data.uri is not None:
        return open_source(data.uri, extensions)
    if data.path == "-":
        raise UsageError("A run cannot read its data from standard input: it could not go on later.", "Name a file.")
    return open_source(str(request.folder / (data.path or "")), extensions)


def _records(prepared: _Prepared) -> tuple[Intake, RecordStore]:
    """All records, checked before anything is asked or paid for."""
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


async def _run(prepared: _Prepared, intake: Intake, records: RecordStore) -> RunEnd:
    request, listener = prepared.request, prepared.listener
    stop = asyncio.Event()
    try:
        async with target_of(request, prepared.extensions) as target:
            inputs = _inputs(prepared, target, records)
            begun = begin(request, inputs, len(records) * prepared.spec.trials)
            try:
                run = _Running(prepared, intake, records, target, begun)
                with stopped_by_interrupt(stop, lambda: listener.on_note(STOPPING)):
                    return await run.to_end(stop)
            except BaseException as error:
                # Also where the kernel itself fails: whoever lists runs must not find one that seems to go on.
                begun.history.enter("error", reason=str(error) or type(error).__name__)
                raise
            finally:
                begun.close()
    except BaseException:
        prepared.plan.abandon()
        raise


def _inputs(prepared: _Prepared, target: Target, records: RecordStore) -> dict[str, Any]:
    """What decides whether results belong together, as JSON."""
    models = prepared.request.models
    judges = {} if models is None else {role: model._asdict() for role, model in models.roles.items()}
    for judge in judges.values():
        # How it is reached does not change what it answers.
        for key in ("api_key_env", "timeout_s", "max_in_flight"):
            del judge[key]
    return {
        "target": dict(target.identity),
        "dataset": {"sha256": records.sha256, "records": len(records)},
        "trials": prepared.spec.trials,
        "evaluators": {
            one.name: {
                "ref": f"{one.info.ref}@{one.info.version}",
                "params": json.loads(json.dumps(dict(one.params))),
                "when": one.when,
            }
            for one in prepared.plan.instances
        },
        "judges": judges,
    }


class _Running:
    """A run that is begun, taken to its end by one attempt."""

    def __init__(self, prepared: _Prepared, intake: Intake, records: RecordStore, target: Target, begun: Begun) -> None:
        self._prepared = prepared
        self._intake = intake
        self._records = records
        self._target = target
        self._begun = begun
        self._halt = Halt()
        self._started_at = datetime.now(UTC)
        self._order, self._following = self._order_of_items()

    async def to_end(self, stop: asyncio.Event) -> RunEnd:
        """Work, sum up, judge, write."""
        prepared, begun = self._prepared, self._begun
        begun.history.attempt(begun.kept)
        begun.history.enter("preparing")
        self._tell_kept()
        models = self._models()
        spent = Usage()
        for answer in begun.progress.all_generated():
            spent = spent.plus(answer)
        caller = caller_of(
            self._target,
            prepared.request,
            bounds=bounds_of(self._target, self._records),
            spent=spent,
            extensions=prepared.extensions,
            listener=prepared.listener,
        )
        async with scorers(prepared.plan, models, prepared.extensions, prepared.listener) as ready:
            if ready.broker is not None:
                replies = ReplyLog(begun.folder.path, begun.progress.add_reply)
                for line in begun.progress.replies():
                    replies.restore(line)
                ready.broker.replies = replies
            begun.history.enter("running")
            attempt = self._attempt(ready, caller)
            at_own_end = await attempt.work(stop, prepared.spec.budget.max_wall_clock)
            if ready.broker is not None and ready.broker.broken is not None:
                self._halt.by(ready.broker.broken.message, ready.broker.broken)
            begun.history.enter("scoring")
            return await self._summed_up(ready, at_own_end=at_own_end)

    def _order_of_items(self) -> tuple[Sequence[int], Following | None]:
        """The items as they are taken up: as the data has them, or shuffled where the run may stop early."""
        spec, trials, count = self._prepared.spec, self._prepared.spec.trials, len(self._records)
        if spec.stop_when_decided is None or not spec.gates:
            return range(count * trials), None
        numbers = list(range(count))
        random.Random(ORDER_SEED).shuffle(numbers)
        test = EarlyStopping(
            spec.gates,
            self._prepared.gates.ranges,
            records=count,
            trials=trials,
            error_rate=spec.stop_when_decided.error_rate,
        )
        order = [number * trials + trial for number in numbers for trial in range(trials)]
        if test.obstacle is not None:
            self._prepared.listener.on_note(f"the run does not stop early: {test.obstacle}")
            return order, None
        return order, Following(test, numbers, self._prepared.plan.instances, trials)

    def _tell_kept(self) -> None:
        kept, items = self._begun.kept, len(self._begun.progress)
        if self._begun.history.attempts > 1:
            failed = sum(self._begun.progress.has_failed(item) for item in range(items))
            again = f", {failed:,} that failed to do again" if self._prepared.request.retry_errors else ""
            self._prepared.listener.on_note(
                f"{self._begun.folder.id}: {kept:,} of {items:,} kept, {items - kept:,} to go{again}"
            )

    def _models(self) -> Any:
        """The models, whose budget counts what earlier attempts asked."""
        models = self._prepared.request.models
        if models is None:
            return None
        tokens, usd = 0, 0.0
        for item in range(len(self._begun.progress)):
            for _, entry in entries_of(self._begun.progress.scored(item) or {}):
                if entry.calls and not entry.cached:
                    tokens += (entry.tokens.input or 0) + (entry.tokens.output or 0)
                    usd += entry.cost_usd or 0.0
        return models._replace(spent_tokens=tokens, spent_usd=usd)

    def _attempt(self, ready: Ready, caller: Any) -> Attempt:
        prepared, progress = self._prepared, self._begun.progress
        at_once = prepared.spec.target.max_concurrency
        attempt = Attempt(
            progress,
            self._order,
            pools=ready.pools,
            halt=self._halt,
            at_once=at_once,
            again=prepared.request.retry_errors,
            following=self._following,
            on_done=prepared.listener.on_records,
        )
        trials = prepared.spec.trials
        attempt.generation = Generation(
            self._target,
            caller,
            records=self._records,
            trials=trials,
            progress=progress,
            halt=self._halt,
            on_answer=attempt.answered,
        )
        attempt.scoring = Scoring(
            self._records,
            trials,
            instances=prepared.plan.instances,
            conditions=prepared.conditions,
            pools=ready.pools,
            progress=progress,
            broker=ready.broker,
            on_scored=attempt.scored,
        )
        return attempt

    async def _summed_up(self, ready: Ready, *, at_own_end: bool) -> RunEnd:
        prepared, begun, spec = self._prepared, self._begun, self._prepared.spec
        done = begun.progress.count_done()
        decisions = () if self._following is None else tuple(self._following.test.decisions)
        summing = Summing(spec, prepared.gates, prepared.plan.instances, self._about(done), decisions)
        scores = RunScores(
            prepared.plan,
            ready.pools,
            self._as_evaluation(),
            method=prepared.method,
            broker=ready.broker,
            listener=Listener(on_note=prepared.listener.on_note),
        )
        summing.fold(begun.progress, self._records, scores, ready.broker)
        if at_own_end:
            await scores.aggregate()
        begun.history.enter("gating")
        evaluation = scores.finish(self._ending(done), self._intake, self._started_at, summing.complete)
        if prepared.request.output is not None and evaluation.error is None:
            try:
                evaluation.write(prepared.request.output)
            except OutputError as error:
                evaluation = replace(evaluation, error=error)
        judged = summing.judged(evaluation)
        state = self._state(judged.verdict, at_own_end=at_own_end, error=evaluation.error)
        begun.history.enter(state, verdict=judged.verdict, reason=self._halt.reason)
        return RunEnd(
            begun.folder.id,
            state,
            evaluation,
            judged.gates,
            judged.verdict,
            len(begun.progress),
            done,
            begun.kept,
            begun.folder.results,
            self._halt.reason,
        )

    def _as_evaluation(self) -> Request:
        """The run as the request of an evaluation, which is how numbers are made and told."""
        spec, request = self._prepared.spec, self._prepared.request
        cluster_by = spec.summary.cluster_by or ("id" if spec.trials > 1 else None)
        return Request(
            data=self._prepared.source,
            evaluators=(),
            mapping=self._prepared.mapping,
            limit=spec.dataset.limit,
            cluster_by=cluster_by,
            confidence=spec.summary.confidence_level,
            ci=spec.summary.ci_method,
            models=request.models,
            output=self._begun.folder.results,
        )

    def _about(self, done: int) -> dict[str, Any]:
        """What the run adds to the manifest."""
        request, spec, document = self._prepared.request, self._prepared.spec, self._prepared.request.document
        items = len(self._begun.progress)
        stopped = None
        if self._following is not None and self._following.test.is_decided and done < items:
            error_rate = next((one.error_rate for one in self._following.test.decisions if one is not None), None)
            stopped = {"items": done, "of": items, "saved": items - done, "error_rate": error_rate}
        return {
            "run_id": self._begun.folder.id,
            "name": request.name,
            "project": document.project,
            "labels": document.metadata.labels,
            "target": dict(self._target.identity),
            "target_usage": target_usage(self._begun.progress),
            "trials": spec.trials,
            "kept": self._begun.kept,
            "stopped_early": stopped,
            "source": dict(request.source),
            "spec": document.model_dump(mode="json"),
        }

    def _ending(self, done: int) -> Ending:
        if self._halt.error is not None:
            return Ending(Status.FAILED, _as_error(self._halt.error))
        decided = self._following is not None and self._following.test.is_decided
        whole = done == len(self._begun.progress) or decided
        return Ending(Status.COMPLETE if whole else Status.PARTIAL)

    def _state(self, verdict: str | None, *, at_own_end: bool, error: EvalsiError | None) -> State:
        if not at_own_end or self._halt.reason == STOPPED:
            return "cancelled"
        if error is not None:
            return "error"
        return "succeeded" if verdict in (None, "pass") else "failed"


def _as_error(error: WireError) -> EvalsiError:
    return EvalsiError(error.message, error.mend, code=error.code)
