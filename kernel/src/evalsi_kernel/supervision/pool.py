"""Distribute requests among the processes of one pack, and recover from crashes, hangs and invalid results."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from evalsi_kernel.errors import ConfigError, EvalsiError, PackError
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.supervision.connection import Answer, RequestFailed, not_bound
from evalsi_kernel.supervision.launch import Launch, Opening, PoolLimits
from evalsi_kernel.supervision.score_request import ScoreRequest
from evalsi_kernel.supervision.spawn import Spawned
from evalsi_kernel.supervision.watchdog import watch
from evalsi_kernel.supervision.worker import Worker, start_worker
from evalsi_protocol.errors import WireError

MAYBE_THE_ENVIRONMENT = frozenset({"pack.start_failed", "pack.import"})
MAX_CRASHES = 10
BACKOFF_S = (0.0, 0.0, 0.0, 0.05, 0.1, 0.2, 0.5, 1.0)


class Pool:
    """The running processes of one pack, all with the same evaluators open.

    After a crash, missing outcomes are requested again; the suspect request is split in halves until the record that
    crashes the process is found and ends as one error.

    Args:
        launch: how to start a process.
        openings: the evaluators to open.
        limits: resource limits.
        first: the first process, if it is started already.
        answer: handles the requests of the processes.

    Attributes:
        broken: why no more processes are started; None while they are.
        restarts: number of restarts after a fault.
        replacements: number of replaced processes that used too much memory.
    """

    def __init__(
        self,
        launch: Launch,
        openings: Sequence[Opening],
        limits: PoolLimits,
        first: Spawned | None = None,
        answer: Answer = not_bound,
    ) -> None:
        self.launch = launch
        self.limits = limits
        self.restarts = 0
        self.replacements = 0
        self._first = first
        self._answer = answer
        self._openings = list(openings)
        self._queue: deque[ScoreRequest] = deque()
        self._changed = asyncio.Condition()
        self._workers: list[Worker] = []
        self._runners: list[asyncio.Task[None]] = []
        self._closing = False
        self._cancelled = False
        self.broken: WireError | None = None
        self._crashed_records = 0
        self._failed_starts = 0

    @property
    def sessions(self) -> tuple[int, ...]:
        """The sessions that score every batch."""
        return tuple(opening.session for opening in self._openings)

    async def start(self) -> list[dict[str, Any]]:
        """Start the first process; return its description of each opened evaluator.

        Raises:
            PackError, PackEnvironmentError, ConfigError: it cannot start, or refuses a param.
        """
        worker = await self._start_first()
        described = await self._open(worker)
        self._runners.append(asyncio.create_task(self._run(worker)))
        return described

    async def submit(self, chunk: Chunk, sessions: tuple[int, ...] | None = None) -> None:
        """Queue a batch; its `unanswered` decreases as outcomes arrive.

        `sessions` restricts the request to some sessions and to missing outcomes; None requests all of a new batch.
        """
        whole = ScoreRequest(chunk, self.sessions if sessions is None else sessions)
        requests = [whole] if sessions is None else whole.again()
        if self.broken is not None:
            await self._give_up(self.broken, requests)
            return
        async with self._changed:
            self._queue.extend(requests)
            self._changed.notify_all()

    def grow(self) -> None:
        """Start one more process if requests are waiting and the limit allows it."""
        if (
            len(self._queue) > self.limits.max_requests
            and len(self._runners) < self.limits.processes
            and not self._closing
        ):
            self._runners.append(asyncio.create_task(self._run(None)))

    async def living(self) -> Worker | None:
        """Wait for a process that accepts requests; return None when there will be none."""

        def found() -> Worker | None:
            return next((worker for worker in self._workers if not worker.is_over and not worker.fault), None)

        async with self._changed:
            await self._changed.wait_for(lambda: found() or self.broken is not None or self._closing)
            return found()

    async def cancel(self, grace_s: float = 0.5) -> None:
        """Stop sending; requests in flight have `grace_s` seconds to finish, then the processes are killed."""
        self._cancelled = self._closing = True
        async with self._changed:
            self._queue.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.connection.cancel_all()
        _, late = await asyncio.wait(self._runners, timeout=grace_s) if self._runners else (set(), set())
        if late:
            for worker in self._workers:
                worker.kill("was stopped")

    def abort(self) -> None:
        """Kill every process at once; missing outcomes stay missing."""
        self._cancelled = self._closing = True
        for worker in self._workers:
            worker.kill("was stopped")

    async def close(self) -> None:
        """Finish all requests and end every process."""
        self._closing = True
        await self._notify()
        await asyncio.gather(*self._runners, return_exceptions=True)

    async def _start_first(self) -> Worker:
        """Start the first process; rebuild the environment once if the process fails to load."""
        rebuild = self.launch.rebuild
        try:
            return await start_worker(self.launch, self._first, self._answer)
        except PackError as error:
            if rebuild is None or error.code not in MAYBE_THE_ENVIRONMENT:
                raise
        from anyio import to_thread  # Rarely needed.

        self.launch = (await to_thread.run_sync(rebuild))._replace(log=self.launch.log)
        return await start_worker(self.launch, answer=self._answer)

    # -- one process ----------------------------------------------------------------------------------------------

    async def _run(self, worker: Worker | None) -> None:
        try:
            await self._run_until_over(worker)
        except Exception as error:
            # This task is not awaited until the end: without an outcome for each record the run would wait forever.
            message = f"The kernel failed while it ran the pack {self.launch.name}: {type(error).__name__}: {error}"
            await self._give_up(WireError("kernel.internal", message, "Report it.", "kernel"))
            raise

    async def _run_until_over(self, worker: Worker | None) -> None:
        while worker is not None or (not self._closing and self.broken is None):
            if worker is None:
                worker = await self._start_again()
                if worker is None:
                    return
            self._workers.append(worker)
            await self._notify()
            try:
                await self._feed(worker)
                if not self._cancelled:
                    await self._recover(worker)
            except Exception:
                await self._requeue(worker.requests)
                raise
            finally:
                self._workers.remove(worker)
                await worker.stop()
            worker = None

    async def _start_again(self) -> Worker | None:
        await asyncio.sleep(BACKOFF_S[min(self._failed_starts, len(BACKOFF_S) - 1)])
        try:
            worker = await start_worker(self.launch, answer=self._answer)
            await self._open(worker)
        except EvalsiError as error:
            self._failed_starts += 1
            if self._failed_starts > len(BACKOFF_S):
                await self._give_up(error.to_wire())
                return None
            return await self._start_again() if not self._closing else None
        return worker

    async def _open(self, worker: Worker) -> list[dict[str, Any]]:
        """Open the evaluators in a new process; stop the process if one cannot be opened."""
        limits = self.limits
        try:
            return await worker.open(self._openings, limits.concurrency, limits.record_timeout_s)
        except BaseException as failure:
            await worker.stop()
            if not isinstance(failure, RequestFailed):
                raise
            raise ConfigError(failure.error.message, failure.error.hint, code=failure.error.code) from failure

    async def _feed(self, worker: Worker) -> None:
        """Send requests from the front of the queue to a process, as it can take them, until it is done."""
        watching, waking = watch(worker, self.limits.record_timeout_s), self._wake_when_over(worker)
        helpers = [asyncio.create_task(watching), asyncio.create_task(waking)]
        try:
            # Only one task per process waits for the queue, because each change wakes every waiting task.
            async with asyncio.TaskGroup() as group:
                while (request := await self._next(worker)) is not None:
                    group.create_task(self._complete(worker, request))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            for task in helpers:
                task.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _complete(self, worker: Worker, request: ScoreRequest | None) -> None:
        """Complete a request, and then others that the process can take."""
        while request is not None:
            try:
                await worker.score(request)
            except RequestFailed as failure:
                if failure.gone:
                    return
                worker.requests.remove(request)
                await self._refused(request, failure.error)
            else:
                self._failed_starts = 0
                worker.requests.remove(request)
                self._fail_unanswered(request)
            self._check_memory(worker)
            request = self._taken(worker)
            if request is None or self._may_take(worker):
                await self._notify()

    async def _next(self, worker: Worker) -> ScoreRequest | None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._may_take(worker) or self._is_done(worker))
            return self._taken(worker)

    def _taken(self, worker: Worker) -> ScoreRequest | None:
        """Return the next request, assigned to the process; None where it can take none now, or is done."""
        if self._is_done(worker) or not self._may_take(worker):
            return None
        return worker.take(self._queue.popleft())

    def _may_take(self, worker: Worker) -> bool:
        """Return whether this process can take the next request; a suspect one is sent alone."""
        if not self._queue or len(worker.requests) >= self.limits.max_requests:
            return False
        return not worker.requests or not (
            self._queue[0].suspect or any(request.suspect for request in worker.requests)
        )

    def _is_done(self, worker: Worker) -> bool:
        finished = self._closing and not self._queue
        return worker.is_over or self._cancelled or bool(worker.fault) or finished

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _wake_when_over(self, worker: Worker) -> None:
        await worker.connection.is_over.wait()
        await self._notify()

    def _check_memory(self, worker: Worker) -> None:
        limit, process = self.limits.memory_bytes, worker.process
        if (
            limit
            and process
            and not worker.fault
            and worker.is_due_for_memory_check()
            and process.resident_bytes() > limit
        ):
            worker.fault = f"held more than {limit / 1e6:,.0f} MB"

    # -- after a fault --------------------------------------------------------------------------------------------

    async def _recover(self, worker: Worker) -> None:
        requests = worker.requests
        if not worker.is_over and not requests:
            self.replacements += bool(worker.fault)
            return
        self.restarts += 1
        ending = await worker.describe_end()
        if worker.timed_out is not None:
            request, session, index = worker.timed_out
            error = timeout_error(f"No answer for this record within {self.limits.record_timeout_s:g} s.")
            request.chunk.fail(session, index, error)
            again = [part for request in requests for part in request.again()]
        else:
            again = [part for request in requests[1:] for part in request.again()]
            again = self._halved(requests[0], ending) + again if requests else again
        await self._requeue(again)

    def _halved(self, suspect: ScoreRequest, ending: str) -> list[ScoreRequest]:
        if not suspect.is_narrowed_down:
            return suspect.halves()
        hint = "Check the record; all others were scored."
        suspect.fail(WireError("pack.crashed", f"The pack {self.launch.name} {ending}", hint, "pack"))
        self._crashed_records += 1
        if self._crashed_records >= MAX_CRASHES:
            self.broken = WireError(
                "pack.crashed",
                f"The pack {self.launch.name} crashed on {self._crashed_records} records and is no longer used.",
                f"Run `evalsi doctor {self.launch.name}`.",
                "pack",
            )
        return []

    async def _refused(self, request: ScoreRequest, error: WireError) -> None:
        if self._cancelled:
            return
        if request.is_narrowed_down:
            request.fail(error)
        else:
            await self._requeue(request.halves())

    def _fail_unanswered(self, request: ScoreRequest) -> None:
        if request.chunk.unanswered:
            why = f"; {request.fault}." if request.fault else "."
            message = f"The pack finished without an answer for this record{why}"
            request.fail(WireError("pack.no_answer", message, "Fix the pack."))

    async def _requeue(self, requests: list[ScoreRequest]) -> None:
        if self.broken is not None:
            await self._give_up(self.broken, requests)
            return
        async with self._changed:
            self._queue.extendleft(reversed(requests))
            self._changed.notify_all()

    async def _give_up(self, error: WireError, requests: Sequence[ScoreRequest] = ()) -> None:
        """Fail everything that is queued, now and later, with this error."""
        self.broken = error
        async with self._changed:
            queued = [*requests, *self._queue]
            self._queue.clear()
            self._changed.notify_all()
        for request in queued:
            request.fail(error)


def timeout_error(message: str) -> WireError:
    """Return the error of a timeout."""
    hint = "Raise record_timeout_s in the pack's plugin.toml (--record-timeout for your own), or shorten the record."
    return WireError("pack.timeout", message, hint, "pack")
