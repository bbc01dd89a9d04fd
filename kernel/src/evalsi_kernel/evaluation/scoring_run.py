"""A planned evaluation, run: packs started, records scored, outcomes added up, the whole summed up.

It must not know how the plan was made or who listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.evaluation.run_scores import RunScores
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.planning.planning import Plan
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.sources import Source
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.scores.intervals import IntervalMethod
from evalsi_kernel.status import Ending, Status
from evalsi_kernel.supervision.connection import not_bound
from evalsi_kernel.supervision.engine import score_chunks
from evalsi_kernel.supervision.event_loop import finished, run_in_loop, stopped_by_interrupt
from evalsi_kernel.supervision.pool import Pool

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker
    from evalsi_kernel.broker.settings import BrokerSettings

GOODBYES_S = 0.001
"""Until the packs have been told that it is over."""
STOPPING = "stopping; what is finished is kept (Ctrl-C again stops at once)"


def run(
    request: Request,
    source: Source,
    plan: Plan,
    *,
    method: IntervalMethod | None,
    extensions: Extensions,
    listener: Listener,
) -> Evaluation:
    """Run a plan to its end.

    Raises:
        EvalsiError: a pack cannot start or refuses a param, the data has no record, or the output cannot be written.
    """
    return run_in_loop(lambda: _run(request, source, plan, method=method, extensions=extensions, listener=listener))


async def _run(
    request: Request,
    source: Source,
    plan: Plan,
    *,
    method: IntervalMethod | None,
    extensions: Extensions,
    listener: Listener,
) -> Evaluation:
    try:
        broker = None if request.models is None else await _broker(request, request.models, extensions, listener)
    except BaseException:
        plan.abandon()
        raise
    try:
        return await _score(request, source, plan, method=method, broker=broker, listener=listener)
    finally:
        if broker is not None:
            await broker.close()


async def _broker(request: Request, models: BrokerSettings, extensions: Extensions, listener: Listener) -> Broker:
    # SQLite and all that a run without a judge need not load.
    from evalsi_kernel.evaluation.broker_opening import open_broker

    return await open_broker(
        models,
        extensions,
        keep_replies=request.keeps_results,
        folder=request.output.parent if request.output else None,
        on_note=listener.on_note,
    )


async def _score(
    request: Request,
    source: Source,
    plan: Plan,
    *,
    method: IntervalMethod | None,
    broker: Broker | None,
    listener: Listener,
) -> Evaluation:
    stop = asyncio.Event()
    started_at = datetime.now(UTC)
    answer = not_bound if broker is None else broker.answer
    pools = [Pool(group.launch, group.openings, group.limits, group.first, answer) for group in plan.groups]
    intake = Intake(source, request.mapping, request.limit, request.cluster_by)
    scoring = RunScores(plan, pools, request, method=method, broker=broker, listener=listener)

    def stopping() -> None:
        if broker is not None:
            broker.stop()
        listener.on_note(STOPPING)

    try:
        await _start(pools)
        with stopped_by_interrupt(stop, stopping):
            ending = await score_chunks(intake.chunks(), pools, scoring.take, stop, may_block=source.may_block)
            if ending.status is not Status.PARTIAL and not await finished(scoring.aggregate(), stop):
                ending = Ending(Status.PARTIAL)
                _abort(pools)
            closing = asyncio.create_task(_close(pools))
            # While the packs leave there is time to sum up; what takes long, as a file may, waits until they are gone.
            await asyncio.wait({closing}, timeout=GOODBYES_S if request.output is None and method is None else None)
            try:
                if ending.error is not None and not scoring.done:
                    raise ending.error
                if ending.status is Status.COMPLETE and not intake.count:
                    raise DatasetError(f"{source.name} has no records.", "Give it some.", code="dataset.empty")
                return scoring.finish(ending, intake, started_at)
            finally:
                await closing
    except BaseException:
        _abort(pools)
        raise
    finally:
        await _close(pools)


async def _close(pools: Sequence[Pool]) -> None:
    await asyncio.gather(*(pool.close() for pool in pools))


def _abort(pools: Sequence[Pool]) -> None:
    for pool in pools:
        pool.abort()


async def _start(pools: Sequence[Pool]) -> None:
    """Start all packs at once; the first failure is the one that is told, after the others have settled."""
    outcomes = await asyncio.gather(*(pool.start() for pool in pools), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
