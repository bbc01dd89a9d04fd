"""Handle the kernel's requests to a module: hello, ping, describe, open, score, plan, reduce, aggregate, close, bye.

Everything here runs on one event loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from typing import Any, Final, NamedTuple

from evalsi_kernel.errors import ConfigError
from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import pack
from evalsi_protocol.greeting import choose_major, pack_hello
from evalsi_protocol.machine import RequestReceived
from evalsi_protocol.methods import ITEM_DURATIONS, ITEM_RUNS
from evalsi_wasm.aggregation import aggregated
from evalsi_wasm.calls import Calls
from evalsi_wasm.description import RECORD_TIMEOUT_S, Opened, open_evaluator
from evalsi_wasm.module import AGGREGATE, PLAN, REDUCE
from evalsi_wasm.request_body import Refused, as_shown, field, records_in, refusal, seconds_in, wrong_body
from evalsi_wasm.scoring import Job, Ways, in_thread
from evalsi_wasm.wire import WINDOW, Wire

CONCURRENCY: Final = 16
CANCELLED: Final = WireError("protocol.cancelled", "The request was cancelled.", "", "kernel")
_METHODS: Final = {"aggregate": AGGREGATE, "plan": PLAN, "reduce": REDUCE}


class Served(NamedTuple):
    """A loaded module, or the reason why it could not be loaded.

    Args:
        name, version: name and version of the pack.
        tables: descriptions of the evaluators by name.
        exports: the module's exported functions.
        calls: calls the module's functions; None if it could not be loaded.
        fault: why the module could not be loaded; None if it was.
    """

    name: str
    version: str
    tables: dict[str, dict[str, Any]]
    exports: frozenset[str]
    calls: Calls | None
    fault: WireError | None = None


class PackSession:
    """The pack's side of one session.

    Args:
        served: the module.
        write: sends bytes to the kernel.
        executor: runs calls of the module; its number of threads limits the number of instances.
    """

    def __init__(self, served: Served, write: Callable[[bytes], object], executor: Executor) -> None:
        self.wire = Wire(write, self._begin, self._cancel)
        self._served = served
        self._executor = executor
        self._opened: dict[int, Opened] = {}
        self._states: dict[int, list[Any]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._jobs: set[Job] = set()
        self._kernel_takes: Collection[str] = ()

    def _begin(self, request: RequestReceived) -> None:
        task = self._tasks[request.id] = asyncio.ensure_future(self._do(request))
        task.add_done_callback(lambda done: self._fail_if_cancelled(request, done))

    def _cancel(self, request_id: int) -> None:
        if task := self._tasks.get(request_id):
            task.cancel()

    async def _do(self, request: RequestReceived) -> None:
        """Handle a request and answer it exactly once, even if it fails or is cancelled."""
        step = getattr(self, f"_{request.method}", None)
        try:
            if step is None:
                raise refusal("pack.not_supported", f"A module does not do {request.method!r}.", "", "pack")
            body = await step(request)
        except Refused as refused:
            error = refused.error
        except ConfigError as fault:
            error = fault.to_wire()
        except asyncio.CancelledError:
            error = CANCELLED
        except Exception as fault:  # noqa: BLE001 -- a fault of this host is an answer too.
            message = f"{request.method!r} failed: {type(fault).__name__}: {fault}."
            error = WireError("pack.failed", message, "Please report it.", "pack")
        else:
            # Forget the task first, so that no outcome from a thread is sent after the answer.
            self._tasks.pop(request.id)
            self.wire.respond(request, body)
            return
        self._tasks.pop(request.id)
        self.wire.fail(request, error)

    def _fail_if_cancelled(self, request: RequestReceived, done: asyncio.Task[None]) -> None:
        """Answer a request that was cancelled before its task started."""
        if done.cancelled():
            self._tasks.pop(request.id)
            self.wire.fail(request, CANCELLED)

    async def _hello(self, request: RequestReceived) -> dict[str, Any]:
        major = choose_major(request.body)
        if isinstance(major, WireError):
            raise Refused(major)
        if self._served.fault is not None:
            raise Refused(self._served.fault)
        capabilities = request.body.get("capabilities")
        self._kernel_takes = capabilities if isinstance(capabilities, list) else ()
        can = {"score"} | {word for word, export in _METHODS.items() if export in self._served.exports}
        return pack_hello(major, self._served.name, self._served.version, can, window=WINDOW)

    async def _ping(self, request: RequestReceived) -> dict[str, Any]:
        # Send outcomes that are held back before the answer.
        for job in self._jobs:
            job.flush()
        return {"running": [*self._calls.running(), *(record for job in self._jobs for record in job.asking())]}

    async def _describe(self, request: RequestReceived) -> dict[str, Any]:
        named = {"name": self._served.name, "version": self._served.version}
        return {"pack": named, "evaluators": list(self._served.tables.values())}

    async def _open(self, request: RequestReceived) -> dict[str, Any]:
        body = request.body
        session, name = field(body, "session", int), field(body, "evaluator", str)
        if session in self._opened:
            raise refusal("protocol.session", f"The session {session} is already open.", "Use another id.", "kernel")
        table = self._served.tables.get(name)
        if table is None:
            known = ", ".join(self._served.tables)
            raise refusal("config.unknown_evaluator", f"This pack has no evaluator {name!r}.", f"It has {known}.")
        timeout_s = seconds_in(body, "record_timeout_s", RECORD_TIMEOUT_S)
        concurrency = max(1, field(body, "concurrency", int, CONCURRENCY))
        self._opened[session] = open_evaluator(table, field(body, "params", dict, {}), timeout_s, concurrency)
        return {"evaluator": table}

    async def _score(self, request: RequestReceived) -> dict[str, Any]:
        opened = self._opened_of(field(request.body, "sessions", list))
        records = records_in(request.body)
        packed = _packed(records)
        counts: Counter[str] = Counter()
        for session, one in opened:
            job = self._job(request, session, one, records, packed)
            self._jobs.add(job)
            try:
                await job.score()
            finally:
                self._jobs.discard(job)
            counts += job.counts
        return {"outcomes": dict(counts)}

    async def _plan(self, request: RequestReceived) -> dict[str, Any]:
        session, opened = self._judging(request)
        records = records_in(request.body)
        job = self._job(request, session, opened, records, _packed(records))
        return {"plans": await job.plans()}

    async def _reduce(self, request: RequestReceived) -> dict[str, Any]:
        session, opened = self._judging(request)
        records, replies = records_in(request.body), field(request.body, "replies", list)
        if len(records) != len(replies) or not all(isinstance(one, list) for one in replies):
            raise wrong_body(f"{len(records)} records came with {len(replies)} lists of replies.")
        job = self._job(request, session, opened, records, _packed(records))
        return {"outcomes": await job.outcomes(replies)}

    async def _aggregate(self, request: RequestReceived) -> dict[str, Any]:
        body = request.body
        session = field(body, "session", int)
        ((_, opened),) = self._opened_of([session])
        if not opened.is_of_dataset:
            message = f"{opened.table['name']} has record scope."
            raise refusal("protocol.session", message, "Score it.", "kernel")
        states = self._states.setdefault(session, [])
        states += field(body, "states", list)
        if body.get("more"):
            return {"states": len(states)}
        del self._states[session]
        resamples, seed = field(body, "resamples", int, 0), field(body, "seed", int, 0)
        about = (request.id, session)
        return await in_thread(
            self._executor,
            lambda: aggregated(self._calls, opened, states, resamples=resamples, seed=seed, about=about),
        )

    async def _close(self, request: RequestReceived) -> dict[str, Any]:
        session = field(request.body, "session", int)
        self._opened.pop(session, None)
        self._states.pop(session, None)
        return {}

    async def _bye(self, request: RequestReceived) -> dict[str, Any]:
        others = [task for request_id, task in self._tasks.items() if request_id != request.id]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        return {}

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _calls(self) -> Calls:
        assert self._served.calls is not None
        return self._served.calls

    def _job(
        self,
        request: RequestReceived,
        session: int,
        opened: Opened,
        records: list[dict[str, Any]],
        packed: list[bytes],
    ) -> Job:
        # A cancelled request is answered at once and removed from `_tasks`, so its outcomes are no longer wanted.
        ways = Ways(self._calls, self._executor, self.wire.tell, self.wire.ask, self._tasks.__contains__)
        runs, durations = ITEM_RUNS in self._kernel_takes, ITEM_DURATIONS in self._kernel_takes
        about = (request.id, session)
        return Job(ways, about, opened, records, packed, takes_runs=runs, takes_durations=durations)

    def _opened_of(self, sessions: list[Any]) -> list[tuple[int, Opened]]:
        for session in sessions:
            if type(session) is not int or session not in self._opened:
                raise refusal("protocol.session", f"The session {session} is not open.", "Open it first.", "kernel")
        return [(session, self._opened[session]) for session in sessions]

    def _judging(self, request: RequestReceived) -> tuple[int, Opened]:
        (found,) = self._opened_of([field(request.body, "session", int)])
        if not found[1].judges:
            message = f"{found[1].table['name']} asks no judge, so there is nothing to plan."
            raise refusal("pack.not_supported", message, "Score with it.", "pack")
        return found


def _packed(records: list[dict[str, Any]]) -> list[bytes]:
    return [pack(as_shown(record)) for record in records]
