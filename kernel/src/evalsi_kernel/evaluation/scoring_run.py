"""A planned evaluation, run: packs started, records scored, outcomes added up, the whole summed up.

It must not know how the plan was made or who listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.evaluation.first_pass import read_ahead
from evalsi_kernel.evaluation.run_scores import RunScores
from evalsi_kernel.evaluation.scorers import Scorers, close_all, scorers
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.planning.plan import Plan
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.sources import Source
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.scores.intervals import IntervalMethod
from evalsi_kernel.status import Ending, Status
from evalsi_kernel.supervision.engine import score_chunks
from evalsi_kernel.supervision.event_loop import finished, stopped_by_interrupt
from evalsi_kernel.supervision.pack_log import log_of_evaluation

GOODBYES_S = 0.001
"""Until the packs have been told that it is over."""
STOPPING = "stopping; what is finished is kept (Ctrl-C again stops at once)"


async def run(
    request: Request,
    source: Source,
    plan: Plan,
    *,
    method: IntervalMethod | None,
    extensions: Extensions,
    listener: Listener,
    is_checked: bool = True,
) -> Evaluation:
    """Run a plan to its end.

    Args:
        request: what to evaluate.
        source: gives the rows.
        plan: the evaluators.
        method: how intervals are made; None for the usual way.
        extensions: where connectors are found.
        listener: hears how it goes.
        is_checked: whether records may be scored as they are read; else some are read ahead of the first one scored.

    Raises:
        EvalsiError: a pack cannot start or refuses a param, the data has no record, or the output cannot be written.
    """
    started_at = datetime.now(UTC)
    keeps, folder = request.keeps_results, request.output.parent if request.output else None
    log = log_of_evaluation(listener.on_log)
    async with scorers(plan, request.models, extensions, listener, keep_replies=keeps, folder=folder, log=log) as ready:
        scoring = RunScores(plan, ready.pools, request, method=method, broker=ready.broker, listener=listener)
        intake = Intake(source, request.mapping, request.limit, request.cluster_by)
        stop = asyncio.Event()

        def stopping() -> None:
            if ready.broker is not None:
                ready.broker.stop()
            listener.on_note(STOPPING)

        with stopped_by_interrupt(stop, stopping):
            ending = await _scored(intake, scoring, ready, stop, _counted(intake, listener, is_checked))
            closing = asyncio.create_task(close_all(ready.pools))
            # While the packs leave there is time to sum up; what takes long, as a file may, waits until they are gone,
            # and so does the bill where they are stopped: calls in flight are booked as they are broken off.
            is_quick = request.output is None and method is None and ending.status is not Status.PARTIAL
            await asyncio.wait({closing}, timeout=GOODBYES_S if is_quick else None)
            try:
                if ending.error is not None and not scoring.done:
                    raise ending.error
                if ending.status is Status.COMPLETE and not intake.count:
                    raise DatasetError(f"{source.name} has no records.", "Give it some.", code="dataset.empty")
                return scoring.finish(ending, intake, started_at)
            finally:
                await closing


async def _scored(
    intake: Intake, scoring: RunScores, ready: Scorers, stop: asyncio.Event, chunks: Iterator[Chunk]
) -> Ending:
    """Score every record, and then the whole; return how that ended."""
    may_block = intake.source.may_block
    ending = await score_chunks(chunks, ready.pools, scoring.take, stop, may_block=may_block)
    if ending.status is Status.PARTIAL or await finished(scoring.aggregate(), stop):
        return ending
    for pool in ready.pools:
        pool.abort()
    return Ending(Status.PARTIAL)


def _counted(intake: Intake, listener: Listener, is_checked: bool) -> Iterator[Chunk]:
    """Yield the chunks of the intake; the listener hears how many records there will be."""
    for chunk in intake.chunks() if is_checked else read_ahead(intake.chunks()):
        listener.on_total(intake.expected())
        yield chunk
