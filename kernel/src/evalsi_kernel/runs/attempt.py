"""One attempt at a run: what is left of it generated and scored, both at once, until all is done or it must end.

It must not know how a run begins, nor what its numbers are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from evalsi_kernel.broker.model_client import ModelClient
from evalsi_kernel.evaluation.scorers import Scorers
from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.runs.following import Following
from evalsi_kernel.runs.generation import Generation, Halt
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.prepared import Prepared
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.scoring import Ready, Scoring
from evalsi_kernel.target import Target
from evalsi_protocol.errors import WireError

GRACE_S = 0.5
SYNC_S = 1.0
STOPPED = "it was stopped"


class Attempt:
    """Works on what is left of a run.

    Args:
        prepared: the checked spec.
        items: of the run.
        progress: of the run.
        order: the items in the order in which they are taken up.
        target: what is asked.
        caller: makes its calls.
        scorers: the pools of the evaluators, and the broker.
        halt: why no more calls are made, once there is a reason.
        following: tells when the gates are decided; None where that ends nothing.

    Attributes:
        done: how many items are done.
    """

    def __init__(
        self,
        prepared: Prepared,
        items: Items,
        progress: Progress,
        order: Sequence[int],
        *,
        target: Target,
        caller: ModelClient,
        scorers: Scorers,
        halt: Halt,
        following: Following | None,
    ) -> None:
        self._progress = progress
        self._order = order
        self._pools = scorers.pools
        self._halt = halt
        self._following = following
        self._at_once = prepared.spec.target.max_concurrency
        self._again = prepared.request.retry_errors
        self._on_done = prepared.listener.on_records
        self._sessions = [session for pool in scorers.pools for session in pool.sessions]
        self.done = 0
        self._generation = Generation(
            target,
            caller,
            items,
            progress,
            is_bounded=prepared.spec.budget.is_of_target,
            halt=halt,
            served=next(progress.served(order), None),
            is_in_vain=lambda: scorers.broker is not None and scorers.broker.is_in_trouble,
            on_answer=self._take_answer,
        )
        self._scoring = Scoring(
            items,
            progress,
            scorers,
            instances=prepared.plan.instances,
            conditions=prepared.conditions,
            at_once=self._at_once,
            may_end_early=following is not None,
            on_scored=self._note_done,
            on_broken=lambda error: halt.by(error.message, error),
        )

    async def work(self, stop: asyncio.Event, max_s: float | None) -> bool:
        """Do what is left; returns whether it came to its own end, and was not stopped from outside.

        Args:
            stop: set from outside, it ends all within a second; what came until then is kept.
            max_s: after so long no new call is made.
        """
        self._begin()
        with _after(max_s, self._out_of_time):
            working, stopping = asyncio.create_task(self._work()), asyncio.create_task(stop.wait())
            syncing = asyncio.create_task(self._sync_again_and_again())
            try:
                await asyncio.wait({working, stopping, syncing}, return_when=asyncio.FIRST_COMPLETED)
                if stopping.done() and not working.done():
                    self._halt.by(STOPPED)
                    await asyncio.wait({working}, timeout=GRACE_S)
                for task in (working, syncing):
                    if task.done():
                        task.result()  # Or what it raised.
                return not stop.is_set()
            finally:
                await self._end(working, stopping, syncing)

    async def _sync_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(SYNC_S)
            # Also when this is cancelled: the log must not be closed meanwhile.
            await _finished_in_thread(self._progress.sync)

    async def _end(self, *tasks: asyncio.Task[Any]) -> None:
        if not tasks[0].done():
            await asyncio.gather(*(pool.cancel(GRACE_S) for pool in self._pools))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self) -> None:
        """Take in what earlier attempts did."""
        if self._following is None:
            self.done = self._progress.done - (self._progress.failed if self._again else 0)
            if self.done:
                self._on_done(self.done)
            return
        for item in self._progress.finished(self._order, again=self._again):
            self._note_done(item, self._outcomes_before(item))

    def _outcomes_before(self, item: int) -> Mapping[int, Outcome]:
        scored = self._progress.scored(item)
        if scored is not None:
            return {session: tuple(outcome) for session, outcome in scored["outcomes"].items()}
        return self._failed_for_all(self._progress.generated(item) or {})

    async def _work(self) -> None:
        async def feed() -> None:
            await self._put_kept()
            to_generate = self._progress.to_generate(self._order, again=self._again)
            await self._generation.run(to_generate, self._at_once)
            await self._scoring.end()

        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(feed())
                tasks.create_task(self._scoring.run())
        except BaseExceptionGroup as failures:
            raise _first(failures) from failures

    async def _put_kept(self) -> None:
        """Have scored what an earlier attempt generated."""
        progress = self._progress
        for item in progress.to_score(self._order, again=self._again):
            scored = progress.scored(item) or {"outcomes": {}}
            kept = {session: tuple(of) for session, of in scored["outcomes"].items() if of[0] != "error"}
            told = (scored.get("asked", {}), scored.get("durations", {}))
            await self._scoring.put(Ready(item, progress.generated(item) or {}, kept, *told))

    async def _take_answer(self, item: int, answer: dict[str, Any]) -> None:
        """Take an answer that is written down; a failure is the outcome of every evaluator."""
        if "error" in answer:
            self._note_done(item, self._failed_for_all(answer))
        else:
            await self._scoring.put(Ready(item, answer))

    def _note_done(self, item: int, outcomes: Mapping[int, Outcome]) -> None:
        """Take in an item whose end is written down."""
        self.done += 1
        self._on_done(self.done)
        if self._following is not None and not self._halt and self._following.add(item, outcomes):
            self._halt.by("every gate is decided")

    def _failed_for_all(self, answer: Mapping[str, Any]) -> dict[int, Outcome]:
        return {session: ("error", answer.get("error", {})) for session in self._sessions}

    def _out_of_time(self) -> None:
        why = "The time that budget.max_wall_clock allows is used up."
        hint = "Raise it; the same command then goes on."
        self._halt.by(why, WireError("run.budget", why, hint, "config"))


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that is not a group of others."""
    failure: BaseException = failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


async def _finished_in_thread(act: Callable[[], None]) -> None:
    """Do something in a thread, and come back only once it is done."""
    doing = asyncio.create_task(asyncio.to_thread(act))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise


@contextmanager
def _after(seconds: float | None, act: Callable[[], None]) -> Iterator[None]:
    """Do something once so much time has passed within the block."""
    timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, act)
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
