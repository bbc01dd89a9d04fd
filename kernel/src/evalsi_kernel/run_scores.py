"""What a run adds up: a tally an evaluator, the states of the whole, the spool of results; in the end the evaluation.

It must not know how records are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from math import isfinite

from evalsi_kernel.chunks import Chunk
from evalsi_kernel.connection import RequestFailed
from evalsi_kernel.errors import OutputError
from evalsi_kernel.evaluated import Evaluation
from evalsi_kernel.findings import findings
from evalsi_kernel.intake import Intake
from evalsi_kernel.intervals import Interval, IntervalMethod, percentile_interval
from evalsi_kernel.planning import Plan
from evalsi_kernel.pool import Pool
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.results_file import ResultsSpool
from evalsi_kernel.run_manifest import run_manifest
from evalsi_kernel.states import States
from evalsi_kernel.status import Ending
from evalsi_kernel.summaries import Summary
from evalsi_kernel.tally import Tally

RESAMPLES = 2_000
SEED = 0


class RunScores:
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
        self._output_error: OutputError | None = None

    def take(self, chunk: Chunk) -> None:
        """Add up a chunk and let it go."""
        for tally in self._tallies:
            session = tally.instance.session
            column = chunk.columns[session]
            tally.add(column, chunk.clusters if session not in self._states else None)
            if session in self._states:
                self._states[session].add(column)
        self._keep(lambda spool: spool.add(chunk, self._plan.instances))
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
            answer = await pool.aggregate(session, states.parts, RESAMPLES, SEED)
            outcome = (str(answer.get("outcome")), answer.get("payload"))
        except RequestFailed as failure:
            answer, outcome = {}, ("error", failure.error.to_body())
        outcome = tally.add_whole(outcome, states.count)
        if outcome[0] == "scored":
            self._whole[session] = _finite_columns(answer.get("replicates"))
        self._keep(lambda spool: spool.add_whole(tally.instance, outcome))

    def finish(self, ending: Ending, intake: Intake, started_at: datetime) -> Evaluation:
        """Sum up, and write the file when one was asked for."""
        summaries = tuple(summary for tally in self._tallies for summary in self._summaries(tally))
        manifest = run_manifest(self._request, self._plan, ending, intake, started_at)
        evaluation = Evaluation(
            ending.status,
            ending.error or self._output_error,
            self.done,
            self._plan.instances,
            summaries,
            tuple(findings(self._tallies, intake, self.done)),
            manifest,
            self._spool,
        )
        if self._request.output is None or self._spool is None:
            return evaluation
        try:
            evaluation.write(self._request.output)
        except OutputError as error:
            # The numbers are there all the same, and are told before the error is.
            return replace(evaluation, error=ending.error or error)
        return evaluation

    def _keep(self, step: Callable[[ResultsSpool], None]) -> None:
        """Write to the spool; a disk that is full costs the file, not the numbers."""
        if self._spool is None:
            return
        try:
            step(self._spool)
        except OutputError as error:
            self._output_error = error
            self._spool.close()
            self._spool = None

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
