"""One evaluation from end to end: plan, start, score, sum up. The door that the CLI and the SDK share.

It must not know a terminal, a file format or a pack.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from evalsi_kernel.catalog import Catalog
from evalsi_kernel.chunks import Chunk
from evalsi_kernel.connection import RequestFailed
from evalsi_kernel.engine import Ending, Status, score_chunks
from evalsi_kernel.errors import DatasetError, EvalsiError, UsageError
from evalsi_kernel.extensions import Extensions, interval_method
from evalsi_kernel.findings import Finding, findings
from evalsi_kernel.intake import Intake
from evalsi_kernel.intervals import IntervalMethod, percentile_interval
from evalsi_kernel.planning import LocalPack, Plan, Wanted, make_plan
from evalsi_kernel.pool import Pool
from evalsi_kernel.results_file import ResultsSpool, check_output
from evalsi_kernel.run_manifest import run_manifest
from evalsi_kernel.sources import Source
from evalsi_kernel.states import States
from evalsi_kernel.summaries import Summary
from evalsi_kernel.tally import Instance, Tally

RESAMPLES = 2_000
SEED = 0

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate, and how.

    Args:
        source: gives the rows.
        evaluators: what to score them with.
        params: evaluator's name → its params, for those that do not carry their own.
        mapping: field → path, from `--map`.
        limit: score so many records only; None scores all.
        concurrency: records in flight at once within a pack that waits (judges, async functions).
        processes: of a pack that computes; None takes one a core.
        cluster_by: the metadata key that names a record's cluster.
        confidence: level of the intervals, between 0 and 1.
        ci: "auto", or the name of an interval method such as "bootstrap".
        output: where to write `results.json`; None writes none.
        keep_results: keep every result and record at hand, for `Evaluation.results`.
    """

    source: Source
    evaluators: Sequence[Wanted]
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mapping: dict[str, tuple[str, ...]] = field(default_factory=dict)
    limit: int | None = None
    concurrency: int = 16
    processes: int | None = None
    cluster_by: str | None = None
    confidence: float = 0.95
    ci: str = "auto"
    output: Path | None = None
    keep_results: bool = False

    def check(self) -> None:
        """Refuse values that cannot be; raises `UsageError` or `OutputError`."""
        if self.concurrency < 1:
            raise UsageError(
                f"concurrency is {self.concurrency}; at least one record must be in flight.", "Use 1 or more."
            )
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}; at least one record must be scored.", "Use 1 or more.")
        if not 0 < self.confidence < 1:
            raise UsageError(f"confidence is {self.confidence:g}; it lies between 0 and 1.", "Use 0.95, for example.")
        if self.output is not None:
            check_output(self.output)


class Listener:
    """Hears how an evaluation goes; by default it says nothing."""

    def on_note(self, note: str) -> None:
        """A sentence for a person, such as an environment that is being built."""

    def on_records(self, done: int) -> None:
        """So many records are scored by every evaluator."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came out."""

    status: Status
    error: EvalsiError | None
    records: int
    instances: tuple[Instance, ...]
    summaries: tuple[Summary, ...]
    findings: tuple[Finding, ...]
    manifest: dict[str, Any]
    spool: ResultsSpool | None

    def to_dict(self) -> dict[str, Any]:
        """Manifest, summaries and findings as JSON; the results themselves are in the file."""
        return {
            "status": self.status.value,
            "manifest": self.manifest,
            "summaries": [summary.to_dict() for summary in self.summaries],
            "findings": [
                {"severity": finding.severity, "message": finding.message, "mend": finding.mend}
                for finding in self.findings
            ],
        }

    def write(self, path: Path) -> None:
        """Write `results.json`; raises `OutputError`."""
        if self.spool is None:
            raise UsageError("The results were not kept.", "Evaluate with keep_results, or name an output.")
        self.spool.write(path, self.manifest, [summary.to_dict() for summary in self.summaries])


def evaluate(
    request: Request,
    catalog: Catalog,
    extensions: Extensions,
    *,
    local: LocalPack | None = None,
    listener: Listener | None = None,
) -> Evaluation:
    """Evaluate and wait for it; Ctrl-C ends it in an orderly way with what was finished, a second one at once.

    Raises:
        EvalsiError: something is wrong before the first record is scored. A fault on the way ends the evaluation with
            `status` failed and the `error` at hand instead, so that nothing scored is lost.
    """
    request.check()
    return _run_in_loop(lambda: _evaluate(request, catalog, extensions, local, listener or Listener()))


async def _evaluate(
    request: Request, catalog: Catalog, extensions: Extensions, local: LocalPack | None, listener: Listener
) -> Evaluation:
    stop = asyncio.Event()
    with _stop_on_interrupt(stop, listener):
        method = None if request.ci == "auto" else interval_method(request.ci, extensions)
        started_at = datetime.now(UTC)
        plan = await make_plan(
            request.evaluators,
            request.params,
            catalog,
            local,
            concurrency=request.concurrency,
            processes=request.processes,
            on_progress=listener.on_note,
        )
        intake = Intake(request.source, request.mapping, request.limit, request.cluster_by)
        scoring = _Scoring(plan, request, method, listener)
        try:
            await _start(plan.pools)
            ending = await score_chunks(
                intake.chunks(), plan.pools, scoring.take, stop, may_block=request.source.may_block
            )
            await scoring.aggregate()
        finally:
            await asyncio.gather(*(pool.close() for pool in plan.pools))
        if ending.status is Status.COMPLETE and not intake.count:
            raise DatasetError(f"{request.source.name} has no records.", "Give it some.", code="dataset.empty")
        return scoring.finish(ending, intake, started_at)


async def _start(pools: Sequence[Pool]) -> None:
    """Start all packs at once; the first failure is the one that is told, after the others have settled."""
    outcomes = await asyncio.gather(*(pool.start() for pool in pools), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


class _Scoring:
    """Takes answered chunks and makes the evaluation of them."""

    def __init__(self, plan: Plan, request: Request, method: IntervalMethod | None, listener: Listener) -> None:
        self._plan = plan
        self._request = request
        self._method = method
        self._listener = listener
        self._done = 0
        self._whole: dict[int, dict[str, list[float]]] = {}
        self._tallies = [
            Tally(
                instance,
                request.confidence,
                keep_values=method is not None,
                clustered=request.cluster_by is not None and instance.info.scope == "record",
            )
            for instance in plan.instances
        ]
        self._states = {instance.session: States() for instance in plan.instances if instance.info.scope == "dataset"}
        keeps = request.keep_results or request.output is not None
        self._spool = ResultsSpool(request.output.parent if request.output else None) if keeps else None

    def take(self, chunk: Chunk) -> None:
        """Add up a chunk and let it go."""
        for tally in self._tallies:
            session = tally.instance.session
            column = chunk.columns[session]
            tally.add(column, chunk.clusters if session not in self._states else None)
            if session in self._states:
                self._states[session].add(column)
        if self._spool is not None:
            self._spool.add(chunk, self._plan.instances)
        self._done += len(chunk.ids)
        self._listener.on_records(self._done)

    async def aggregate(self) -> None:
        """Ask for the scores of the dataset-scope evaluators."""
        for tally in self._tallies:
            states = self._states.get(tally.instance.session)
            if states is None:
                continue
            if states.count:
                await self._aggregate_one(tally, states)
            states.close()

    async def _aggregate_one(self, tally: Tally, states: States) -> None:
        session = tally.instance.session
        pool = next(pool for pool in self._plan.pools if session in pool.sessions)
        try:
            answer = await pool.aggregate(session, states.parts(), RESAMPLES, SEED)
            outcome = (str(answer.get("outcome")), answer.get("payload"))
        except RequestFailed as failure:
            answer, outcome = {}, ("error", failure.error.to_body())
        outcome = tally.add_whole(outcome, states.count)
        if outcome[0] == "scored":
            self._whole[session] = answer.get("replicates") or {}
        if self._spool is not None:
            self._spool.add_whole(tally.instance, outcome)

    def finish(self, ending: Ending, intake: Intake, started_at: datetime) -> Evaluation:
        """Sum up, and write the file when one was asked for."""
        summaries = tuple(summary for tally in self._tallies for summary in self._summaries(tally))
        manifest = run_manifest(self._request, self._plan, ending, intake, started_at)
        evaluation = Evaluation(
            ending.status,
            ending.error,
            self._done,
            self._plan.instances,
            summaries,
            tuple(findings(self._tallies, intake, self._done)),
            manifest,
            self._spool,
        )
        if self._request.output is not None:
            evaluation.write(self._request.output)
        return evaluation

    def _summaries(self, tally: Tally) -> list[Summary]:
        session = tally.instance.session
        if session not in self._states:
            return tally.summaries(self._method)
        summaries = tally.summaries(None)
        replicates = self._whole.get(session)
        if replicates is None:
            return summaries
        names = list(tally.metrics)
        count = self._states[session].count
        return [
            replace(summary, n=count, ci=percentile_interval(replicates.get(name, ()), self._request.confidence))
            for name, summary in zip(names, summaries, strict=True)
        ]


def _run_in_loop(start: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run to the end, also where a notebook runs an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    outcome: list[_Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(start()))
        except BaseException as error:  # noqa: BLE001 -- raised again in the caller's thread.
            failure.append(error)

    thread = threading.Thread(target=run, name="evalsi-evaluate")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


class _stop_on_interrupt:
    """While it holds, Ctrl-C sets the stop event, and a second one cancels everything."""

    def __init__(self, stop: asyncio.Event, listener: Listener) -> None:
        self._stop = stop
        self._listener = listener
        self._active = False

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread() and sys.platform != "win32":
            self._task = asyncio.current_task()
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupted)
            self._active = True

    def __exit__(self, *exception: object) -> None:
        if self._active:
            with suppress(RuntimeError):
                asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _interrupted(self) -> None:
        if self._stop.is_set():
            if self._task is not None:
                self._task.cancel()
            return
        self._listener.on_note("stopping; what is finished is kept (Ctrl-C again stops at once)")
        self._stop.set()
