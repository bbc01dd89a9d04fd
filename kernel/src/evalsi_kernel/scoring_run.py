"""A planned evaluation, run: packs started, records scored, outcomes added up, the whole summed up.

It must not know how the plan was made or who listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite

from evalsi_kernel.chunks import Chunk
from evalsi_kernel.connection import RequestFailed
from evalsi_kernel.engine import score_chunks
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.evaluated import Evaluation
from evalsi_kernel.event_loop import run_in_loop, stopped_by_interrupt
from evalsi_kernel.findings import findings
from evalsi_kernel.intake import Intake
from evalsi_kernel.intervals import Interval, IntervalMethod, percentile_interval
from evalsi_kernel.planning import Plan
from evalsi_kernel.pool import Pool
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.results_file import ResultsSpool
from evalsi_kernel.run_manifest import run_manifest
from evalsi_kernel.sources import Source
from evalsi_kernel.states import States
from evalsi_kernel.status import Ending, Status
from evalsi_kernel.summaries import Summary
from evalsi_kernel.tally import Tally

RESAMPLES = 2_000
SEED = 0
STOPPING = "stopping; what is finished is kept (Ctrl-C again stops at once)"


def run(request: Request, source: Source, plan: Plan, method: IntervalMethod | None, listener: Listener) -> Evaluation:
    """Run a plan to its end.

    Raises:
        EvalsiError: a pack cannot start or refuses a param, the data has no record, or the output cannot be written.
    """
    return run_in_loop(lambda: _run(request, source, plan, method, listener))


async def _run(
    request: Request, source: Source, plan: Plan, method: IntervalMethod | None, listener: Listener
) -> Evaluation:
    stop = asyncio.Event()
    started_at = datetime.now(UTC)
    pools = [Pool(group.launch, group.openings, group.limits, group.first) for group in plan.groups]
    intake = Intake(source, request.mapping, request.limit, request.cluster_by)
    scoring = _Scoring(plan, pools, request, method, listener)
    with stopped_by_interrupt(stop, lambda: listener.on_note(STOPPING)):
        try:
            await _start(pools)
            ending = await score_chunks(intake.chunks(), pools, scoring.take, stop, may_block=source.may_block)
            await scoring.aggregate()
        except BaseException:
            for pool in pools:
                pool.abort()
            raise
        finally:
            await asyncio.gather(*(pool.close() for pool in pools))
    if ending.error is not None and not scoring.done:
        raise ending.error
    if ending.status is Status.COMPLETE and not intake.count:
        raise DatasetError(f"{source.name} has no records.", "Give it some.", code="dataset.empty")
    return scoring.finish(ending, intake, started_at)


async def _start(pools: Sequence[Pool]) -> None:
    """Start all packs at once; the first failure is the one that is told, after the others have settled."""
    outcomes = await asyncio.gather(*(pool.start() for pool in pools), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


class _Scoring:
    """Takes answered chunks and makes the evaluation of them."""

    def __init__(
        self, plan: Plan, pools: Sequence[Pool], request: Request, method: IntervalMethod | None, listener: Listener
    ) -> None:
        self._plan = plan
        self._pools = pools
        self._request = request
        self._method = method
        self._listener = listener
        self.done = 0
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
        self.done += len(chunk.ids)
        self._listener.on_records(self.done)

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
        pool = next(pool for pool in self._pools if session in pool.sessions)
        try:
            answer = await pool.aggregate(session, states.parts(), RESAMPLES, SEED)
            outcome = (str(answer.get("outcome")), answer.get("payload"))
        except RequestFailed as failure:
            answer, outcome = {}, ("error", failure.error.to_body())
        outcome = tally.add_whole(outcome, states.count)
        if outcome[0] == "scored":
            self._whole[session] = _finite_columns(answer.get("replicates"))
        if self._spool is not None:
            self._spool.add_whole(tally.instance, outcome)

    def finish(self, ending: Ending, intake: Intake, started_at: datetime) -> Evaluation:
        """Sum up, and write the file when one was asked for."""
        summaries = tuple(summary for tally in self._tallies for summary in self._summaries(tally))
        manifest = run_manifest(self._request, self._plan, ending, intake, started_at)
        evaluation = Evaluation(
            ending.status,
            ending.error,
            self.done,
            self._plan.instances,
            summaries,
            tuple(findings(self._tallies, intake, self.done)),
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
        count = self._states[session].count
        return [
            replace(
                summary, n=count, ci=_resampled_interval(summary, replicates.get(name, ()), self._request.confidence)
            )
            for name, summary in zip(tally.metrics, summaries, strict=True)
        ]


def _resampled_interval(summary: Summary, replicates: Sequence[float], level: float) -> Interval | None:
    """The interval of a metric of the whole data; none where resampling shifts the metric away from its own value."""
    interval = percentile_interval(replicates, level)
    if interval is None or summary.mean is None or not interval.low <= summary.mean <= interval.high:
        return None
    return interval


def _finite_columns(replicates: object) -> dict[str, list[float]]:
    """Each metric's values in the resamples, as far as they are numbers; a pack may send anything."""
    if not isinstance(replicates, dict):
        return {}
    return {
        name: [float(value) for value in column if isinstance(value, (int, float)) and isfinite(value)]
        for name, column in replicates.items()
        if isinstance(column, list)
    }
