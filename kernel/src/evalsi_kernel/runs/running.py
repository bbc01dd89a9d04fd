"""A run that is begun, taken to its end by one attempt: worked on, summed up, judged, written.

It must not know how a run is begun, nor who hosts it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from evalsi_kernel.broker.reply_log import ReplyLog
from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.errors import EvalsiError, OutputError
from evalsi_kernel.evaluation.run_scores import RunScores
from evalsi_kernel.evaluation.scorers import Scorers, close_all, scorers
from evalsi_kernel.extensions.hook_calls import stopping_rule
from evalsi_kernel.gates.verdicts import applying
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.request import Listener
from evalsi_kernel.runs.attempt import STOPPED, Attempt
from evalsi_kernel.runs.beginning import Begun
from evalsi_kernel.runs.folding import entries_of
from evalsi_kernel.runs.following import Following
from evalsi_kernel.runs.generation import Halt
from evalsi_kernel.runs.history import FINISHED, now
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.manifest import TargetUsage
from evalsi_kernel.runs.opening import caller_of
from evalsi_kernel.runs.prepared import Prepared
from evalsi_kernel.runs.request import RunEnd
from evalsi_kernel.runs.summing import Summing, end_state
from evalsi_kernel.status import Ending, Status
from evalsi_kernel.supervision.pack_log import PackLog
from evalsi_kernel.target import Target
from evalsi_protocol.errors import WireError

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker

ORDER_SEED = 0
_MOST_PLACES = 5


class Running:
    """One attempt at a run.

    Args:
        prepared: the checked spec.
        intake: which has read all records.
        items: of the run.
        target: what is asked.
        begun: the run's folder, log and history.
    """

    def __init__(self, prepared: Prepared, intake: Intake, items: Items, target: Target, begun: Begun) -> None:
        self._prepared = prepared
        self._intake = intake
        self._items = items
        self._target = target
        self._begun = begun
        self._halt = Halt()
        self._order, self._following = self._order_of_items()

    async def to_end(self, stop: asyncio.Event) -> RunEnd:
        """Work, sum up, judge, write."""
        prepared, begun = self._prepared, self._begun
        begun.history.attempt(begun.kept)
        begun.history.enter("preparing")
        prepared.listener.on_total(len(self._items))
        self._tell_kept()
        models = self._models()
        caller = caller_of(
            self._target,
            prepared.request,
            spent=self._spent(),
            extensions=prepared.extensions,
            listener=prepared.listener,
        )
        log = PackLog(begun.folder.path / "packs.log", prepared.listener.on_log)
        async with scorers(prepared.plan, models, prepared.extensions, prepared.listener, log=log) as ready:
            if ready.broker is not None:
                replies = ReplyLog(begun.folder.path, begun.progress.add_reply)
                for line in begun.progress.replies():
                    replies.restore(line)
                ready.broker.replies = replies
            begun.history.enter("running")
            attempt = Attempt(
                prepared,
                self._items,
                begun.progress,
                self._order,
                target=self._target,
                caller=caller,
                scorers=ready,
                halt=self._halt,
                following=self._following,
            )
            at_own_end = await attempt.work(stop, prepared.spec.budget.max_wall_clock)
            if not at_own_end:
                await close_all(ready.pools)  # Calls in flight are booked as they are broken off.
            if ready.broker is not None and (left := ready.broker.ledger.left()):
                begun.progress.note(note="broken off", asked=left)
            self._take_trouble_of(ready.broker)
            begun.history.enter("scoring")
            return await self._summed_up(ready, caller.budget.overshoots, at_own_end=at_own_end)

    def _take_trouble_of(self, broker: Broker | None) -> None:
        """Say why judges were not asked about all, where nothing was said yet."""
        if broker is None or not broker.is_in_trouble:
            return
        why = "The budget of judges does not cover what is left to ask."
        hint = "Raise budget.max_judge_tokens or budget.max_judge_usd; the same command then goes on."
        error = broker.broken or WireError("judge.budget", why, hint, "config")
        self._halt.by(error.message, error)

    def _order_of_items(self) -> tuple[Sequence[int], Following | None]:
        """The items as they are taken up: as the data has them, or shuffled where the run may stop early."""
        spec, trials, count = self._prepared.spec, self._items.trials, self._intake.count
        if spec.stop_when_decided is None or not spec.gates:
            return range(len(self._items)), None
        numbers = list(range(count))
        random.Random(ORDER_SEED).shuffle(numbers)
        test = stopping_rule(self._prepared.extensions)(
            applying(self._prepared.gates, self._facts()),
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

    def _facts(self) -> dict[str, Any]:
        """What conditions of gates may name, as the manifest will have it."""
        source = self._intake.source
        dataset = {"source": source.name, "records": self._intake.count, "sha256": source.sha256()}
        return {**self._named(), "dataset": dataset}

    def _named(self) -> dict[str, Any]:
        """What the run is called, and what it runs."""
        request = self._prepared.request
        return {
            "name": request.name,
            "project": request.document.project,
            "labels": request.document.metadata.labels,
            "target": dict(self._target.identity),
            "trials": self._prepared.spec.trials,
            "source": dict(request.source),
        }

    def _tell_kept(self) -> None:
        kept, progress, on_note = self._begun.kept, self._begun.progress, self._prepared.listener.on_note
        name, items = self._begun.folder.id, len(progress)
        if progress.dropped_bytes:
            on_note(f"{name}: the last {progress.dropped_bytes:,} bytes of its log were damaged and are dropped")
        if progress.damaged:
            places = ", ".join(f"{size:,} bytes at {at:,}" for at, size in progress.damaged[:_MOST_PLACES])
            on_note(f"{name}: its log is damaged ({places}); what was there is done again, and all else is kept")
        if self._begun.history.attempts > 1:
            again = f", {progress.failed:,} of them once more" if self._prepared.request.retry_errors else ""
            on_note(f"{name}: {kept:,} of {items:,} kept, {items - kept:,} to go{again}")

    def _spent(self) -> tuple[int, float]:
        """What the target took so far, as its budget counts it."""
        usage = TargetUsage()
        if self._prepared.spec.budget.is_of_target:
            for answer in self._begun.progress.all_generated():
                usage.add(answer)
            for note in self._begun.progress.notes:
                if note["note"] == "check":
                    usage.add(note["answer"])
        return usage.spent()

    def _models(self) -> BrokerSettings | None:
        """The models, whose budget counts what earlier attempts asked."""
        models = self._prepared.request.models
        if models is None or (models.max_tokens is None and models.max_usd is None):
            return models
        tokens, usd = 0, 0.0
        progress = self._begun.progress
        for body in chain(map(progress.scored, range(len(progress))), progress.notes):
            for _, entry in entries_of(body or {}):
                if entry.calls and not entry.cached:
                    tokens += (entry.tokens.input or 0) + (entry.tokens.output or 0)
                    usd += entry.cost_usd or 0.0
        return models._replace(spent_tokens=tokens, spent_usd=usd)

    async def _summed_up(self, ready: Scorers, overshoots: Sequence[str], *, at_own_end: bool) -> RunEnd:
        prepared, begun, done = self._prepared, self._begun, self._begun.progress.done
        decisions = () if self._following is None else tuple(self._following.test.decisions)
        stopped = not at_own_end or self._halt.reason == STOPPED
        summing = Summing(prepared, self._about(done), decisions, stopped=stopped, overshoots=overshoots)
        scores = RunScores(
            prepared.plan,
            ready.pools,
            prepared.evaluation._replace(output=begun.folder.results),
            method=prepared.method,
            broker=ready.broker,
            listener=Listener(on_note=prepared.listener.on_note),
        )
        summing.fold(begun.progress, self._items, scores, ready.broker)
        if at_own_end:
            await scores.aggregate()
        begun.history.enter("gating")
        evaluation = scores.finish(self._ending(done), self._intake, self._started_at(), summing.complete)
        if prepared.request.output is not None and evaluation.spool is not None:
            try:
                evaluation.write(prepared.request.output)
            except OutputError as error:
                evaluation = evaluation._replace(error=evaluation.error or error)
        state = end_state(summing.verdict, evaluation, stopped=stopped)
        finished = state in FINISHED or (state == "error" and evaluation.error is None)
        begun.history.enter(state, verdict=summing.verdict, reason=self._halt.reason, finished=finished)
        return RunEnd(
            run_id=begun.folder.id,
            state=state,
            evaluation=evaluation,
            gates=summing.gates,
            verdict=summing.verdict,
            items=len(begun.progress),
            done=done,
            kept=begun.kept,
            results=begun.folder.results,
            reason=self._halt.reason,
        )

    def _started_at(self) -> datetime:
        """When the first attempt began."""
        return datetime.fromisoformat(self._begun.history.attempt_times[0]["started_at"])

    def _attempts(self) -> list[dict[str, Any]]:
        """When each attempt began and ended; this one ends now."""
        *before, last = self._begun.history.attempt_times
        return [*before, {**last, "finished_at": now()}]

    def _about(self, done: int) -> dict[str, Any]:
        """What the run adds to the manifest."""
        items = len(self._begun.progress)
        stopped = None
        if self._following is not None and self._following.test.is_decided and done < items:
            error_rate = next((one.error_rate for one in self._following.test.decisions if one is not None), None)
            stopped = {"items": done, "of": items, "saved": items - done, "error_rate": error_rate}
        told = self._prepared.request.document.model_dump(mode="json")
        return {
            "run_id": self._begun.folder.id,
            **self._named(),
            "kept": self._begun.kept,
            "attempts": self._attempts(),
            "stopped_early": stopped,
            "spec": told,
            "spec_sha256": hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest(),
        }

    def _ending(self, done: int) -> Ending:
        if self._halt.error is not None:
            return Ending(Status.FAILED, _as_error(self._halt.error))
        decided = self._following is not None and self._following.test.is_decided
        whole = done == len(self._begun.progress) or decided
        return Ending(Status.COMPLETE if whole else Status.PARTIAL)


def _as_error(error: WireError) -> EvalsiError:
    goes_on = "" if "same command" in error.hint else " The same command then goes on with what is open."
    return EvalsiError(error.message, f"{error.hint}{goes_on}".strip(), code=error.code)
