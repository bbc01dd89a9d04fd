"""What a run adds up: a tally an evaluator, the states of the whole, the spool of results; in the end the evaluation.

It must not know how records are scored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING

from evalsi_kernel.errors import OutputError
from evalsi_kernel.evaluation.manifest import run_manifest
from evalsi_kernel.evaluation.prompts import prompts_of
from evalsi_kernel.evaluation.states import States
from evalsi_kernel.packs.instances import qualify_shared_names
from evalsi_kernel.planning.plan import Plan
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.request import Listener, Request
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.results.findings import Finding, findings
from evalsi_kernel.scores.intervals import Interval, IntervalMethod, percentile_interval
from evalsi_kernel.scores.summaries import Summary
from evalsi_kernel.scores.tally import Tally
from evalsi_kernel.status import Ending, Status
from evalsi_kernel.supervision.aggregation import aggregate_states
from evalsi_kernel.supervision.connection import RequestFailed
from evalsi_kernel.supervision.pool import Pool

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker
    from evalsi_kernel.results.results_file import ResultsSpool

RESAMPLES = 2_000
SEED = 0


class RunScores:
    """Takes answered chunks and makes the evaluation of them."""

    def __init__(
        self,
        plan: Plan,
        pools: Sequence[Pool],
        request: Request,
        *,
        method: IntervalMethod | None,
        broker: Broker | None,
        listener: Listener,
    ) -> None:
        self._plan = plan
        self._pools = pools
        self._request = request
        self._method = method
        self._broker = broker
        self._listener = listener
        self.done = 0
        self._whole: dict[int, dict[str, list[float]]] = {}
        self._tallies = [
            Tally(
                instance,
                request.confidence,
                keep_values=method is not None,
                clustered=request.cluster_by is not None and instance.info.scope == "record",
                log=_log_of(instance.session, pools),
            )
            for instance in plan.instances
        ]
        self._states = {instance.session: States() for instance in plan.instances if instance.info.scope == "dataset"}
        self._spool: ResultsSpool | None = None
        if request.keeps_results:
            from evalsi_kernel.results.results_file import ResultsSpool

            folder = request.output.parent if request.output else None
            self._spool = ResultsSpool(folder, None if broker is None else broker.replies)
        self._known_metrics = 0
        self._output_error: OutputError | None = None
        self._prompts: defaultdict[int, set[str]] = defaultdict(set)

    def take(self, chunk: Chunk) -> None:
        """Add up a chunk and let it go."""
        for tally in self._tallies:
            session = tally.instance.session
            column = chunk.columns[session]
            tally.add(column, chunk.clusters if session not in self._states else None)
            if session in self._states:
                self._states[session].add(column)
        self._tell_apart()
        calls = {} if self._broker is None else self._broker.calls_of(chunk.ids, self._asking(self._broker))
        for session in calls:
            self._prompts[session] |= prompts_of(chunk.columns[session])
        self._keep(lambda spool: spool.add(chunk, self._plan.instances, calls))
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
        # Records are what a pack resamples: of clusters, as of trials, the interval would be too narrow.
        resamples = RESAMPLES if self._request.cluster_by is None else 0
        try:
            answer = await aggregate_states(pool, session, states.parts, resamples, SEED)
            outcome = (str(answer.get("outcome")), answer.get("payload"))
        except RequestFailed as failure:
            answer, outcome = {}, ("error", failure.error.to_body())
        outcome = tally.add_whole(outcome, states.count)
        if outcome[0] == "scored":
            self._whole[session] = _finite_columns(answer.get("replicates"))
            self._prompts[session] |= prompts_of([outcome])
        self._tell_apart()
        self._keep(lambda spool: spool.add_whole(tally.instance, outcome))

    def finish(
        self,
        ending: Ending,
        intake: Intake,
        started_at: datetime,
        complete: Callable[[Evaluation], Evaluation] = lambda evaluation: evaluation,
    ) -> Evaluation:
        """Sum up, and write the file when one was asked for, once `complete` has added what it knows."""
        summaries = tuple(summary for tally in self._tallies for summary in self._billed(tally))
        judging = None if self._broker is None else self._broker.to_dict()
        if (
            ending.status is Status.COMPLETE
            and self._broker is not None
            and self._broker.preview is None
            and self._broker.is_incomplete
        ):
            ending = Ending(Status.INCOMPLETE, ending.error)
        manifest = run_manifest(
            self._request,
            self._plan,
            ending,
            intake,
            started_at=started_at,
            judging=judging,
            prompts=self._prompts,
        )
        evaluation = Evaluation(
            ending.status,
            ending.error or self._output_error,
            self.done,
            self._plan.instances,
            summaries,
            (*self._broker_findings(), *findings(self._tallies, intake, self.done)),
            manifest,
            self._spool,
            None if self._broker is None else self._broker.preview,
            tracebacks=tuple((tally.instance.name, one) for tally in self._tallies for one in tally.tracebacks),
            log=self._log(),
        )
        evaluation = complete(evaluation)
        if self._request.output is None or self._spool is None or evaluation.preview is not None:
            return evaluation
        try:
            evaluation.write(self._request.output)
        except OutputError as error:
            # The numbers are there all the same, and are told before the error is.
            return evaluation._replace(error=ending.error or error)
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

    def _tell_apart(self) -> None:
        """Qualify metrics that evaluators of the user's own, which declare none, turn out to share."""
        known = sum(len(tally.metrics) for tally in self._tallies)
        if known == self._known_metrics:
            return
        self._known_metrics = known
        qualified = qualify_shared_names((tally.instance, name) for tally in self._tallies for name in tally.metrics)
        if qualified and self._spool is not None:
            self._spool.qualify(qualified)

    def _log(self) -> str:
        logs = (pool.launch.log for pool in self._pools)
        return next((str(log.path) for log in logs if log is not None and log.is_written), "")

    def _broker_findings(self) -> list[Finding]:
        if self._broker is None:
            return []
        from evalsi_kernel.evaluation.broker_findings import broker_findings  # Only a run with a judge has any.

        return broker_findings(self._broker, self._asking(self._broker))

    def _asking(self, broker: Broker) -> list[int]:
        """The sessions that ask a model, by what they declare or by what they did: whatever was asked is paid for."""
        bill = broker.ledger.bill
        return [one.session for one in self._plan.instances if one.info.asks or bill(one.session).asks]

    def _billed(self, tally: Tally) -> list[Summary]:
        """The summaries of an evaluator, with what its questions to a model took."""
        summaries = tally.told(self._summaries(tally))
        if self._broker is None or tally.instance.session not in self._asking(self._broker):
            return summaries
        bill = self._broker.ledger.bill(tally.instance.session)
        return [summary._replace(judge=bill) for summary in summaries]

    def _summaries(self, tally: Tally) -> list[Summary]:
        session = tally.instance.session
        if session not in self._states:
            return tally.summaries(self._method)
        replicates = self._whole.get(session)
        if replicates is None:
            return tally.summaries(None)
        count = self._states[session].count
        return [
            summary._replace(
                n=count, ci=_resampled_interval(summary, replicates.get(name, ()), self._request.confidence)
            )
            if summary.n
            else summary
            for name, summary in tally.summaries_by_score(None).items()
        ]


def _log_of(session: int, pools: Sequence[Pool]) -> str:
    """The file with what the process of an evaluator writes; "" where it has no process of its own."""
    launches = (pool.launch for pool in pools if session in pool.sessions)
    return next((str(one.log.path) for one in launches if one.log is not None and one.command is not None), "")


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
