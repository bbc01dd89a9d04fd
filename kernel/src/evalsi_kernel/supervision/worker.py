"""One running pack process: start, hello, opening of evaluators, requests and shutdown."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any

from evalsi_kernel.errors import PackError
from evalsi_kernel.supervision.connection import Answer, Connection, RequestFailed, not_bound
from evalsi_kernel.supervision.launch import Launch, Opening
from evalsi_kernel.supervision.pack_process import PackProcess, attach
from evalsi_kernel.supervision.score_request import ScoreRequest
from evalsi_kernel.supervision.spawn import Spawned, spawn
from evalsi_kernel.supervision.transports import MemoryTransport, Transport
from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import pack_map

MEMORY_CHECK_S = 0.1
GOODBYE_S = 1.0


class Worker:
    """A pack that answered hello. Use `start_worker`."""

    def __init__(
        self,
        launch: Launch,
        connection: Connection,
        process: PackProcess | None,
        requests: list[ScoreRequest] | None = None,
    ) -> None:
        self.launch = launch
        self.connection = connection
        self.process = process
        self.requests = [] if requests is None else requests
        self.fault = ""
        self.timed_out: tuple[ScoreRequest, int, int] | None = None
        self.progress_at = monotonic()
        self._memory_checked_at = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the session has ended."""
        return self.connection.is_over.is_set()

    async def describe(self) -> dict[str, Any]:
        """Return the pack's description of itself and its evaluators."""
        return await self.connection.request("describe", {})

    async def open(
        self, openings: Sequence[Opening], concurrency: int, record_timeout_s: float
    ) -> list[dict[str, Any]]:
        """Open the evaluators; return the pack's description of each.

        Raises:
            RequestFailed: a param was rejected, or the pack is gone.
            PackError: `pack.changed`: an evaluator has another version than planned.
        """
        described = []
        for opening in openings:
            body = {
                "session": opening.session,
                "evaluator": opening.evaluator,
                "params": dict(opening.params),
                "concurrency": concurrency,
                "record_timeout_s": record_timeout_s,
            }
            said = (await self.connection.request("open", body)).get("evaluator", {})
            if opening.version not in ("", str(said.get("version"))):
                raise PackError(
                    f"The pack {self.launch.name} has version {said.get('version')} of {opening.evaluator}, "
                    f"but its plugin.toml says {opening.version}.",
                    "Regenerate plugin.toml, or update the pack with `evalsi plugins update`.",
                    code="pack.changed",
                )
            described.append(said)
        return described

    def take(self, request: ScoreRequest) -> ScoreRequest:
        """Add a request to `requests` and return it; restart the progress clock of an idle process."""
        if not self.requests:
            self.progress_at = monotonic()
        self.requests.append(request)
        return request

    async def score(self, request: ScoreRequest) -> None:
        """Send a request that is among `requests`, and wait for all its outcomes.

        Raises:
            RequestFailed: the pack failed the request or is gone; the request knows which outcomes are missing.
        """

        def take(items: list[Any], runs: list[Any]) -> None:
            self.progress_at = monotonic()
            request.take(items)
            request.take_runs(runs)

        body = pack_map({"sessions": list(request.sessions), "records": request.packed_records()})
        pending = await self.connection.start_request("score", body, take)
        request.request_id = pending.id
        await pending.answer

    def is_due_for_memory_check(self) -> bool:
        """Return whether to check the memory: after every request, but at most ten times a second."""
        now = monotonic()
        if now - self._memory_checked_at < MEMORY_CHECK_S:
            return False
        self._memory_checked_at = now
        return True

    def kill(self, fault: str) -> None:
        """Kill the pack at once because of this fault; open requests fail."""
        self.fault = self.fault or fault
        if self.process is not None:
            self.process.kill()
        else:
            self.connection.close_writing()
            self.connection.abort(fault)

    def request_of(self, request_id: object) -> ScoreRequest | None:
        """Return the request with this ID."""
        return next((request for request in self.requests if request.request_id == request_id), None)

    async def describe_end(self) -> str:
        """Return how the pack ended, with the last lines of its stderr."""
        violation = self.connection.violation
        if violation:
            self.kill(violation)
        if self.process is None:
            return self.fault or self.connection.ending
        ended = await self.process.end_of_life()
        tail = self.process.stderr_tail
        return (self.fault or ended) + (f"; it wrote:\n{tail}" if tail else "")

    async def stop(self) -> None:
        """Send bye and end the pack, in bounded time whatever its state."""
        if not self.is_over:
            try:
                async with asyncio.timeout(GOODBYE_S):
                    await self.connection.request("bye", {})
            except (TimeoutError, RequestFailed):
                self.fault = self.fault or "did not answer bye"
        self.connection.close_writing()
        if self.process is not None:
            await self.process.stop()
        await self.connection.close()


async def start_worker(launch: Launch, spawned: Spawned | None = None, answer: Answer = not_bound) -> Worker:
    """Start a pack, unless its process is started already, and send hello; `answer` handles its requests.

    Raises:
        PackEnvironmentError: it cannot be started.
        PackError: it ended, refused or timed out before it answered hello.
    """
    transport, process = await _transport(launch, spawned)
    requests: list[ScoreRequest] = []
    if launch.guard:
        answer = launch.guard(answer, lambda *one: any(request.has(*one) for request in requests))
    worker = Worker(launch, Connection(transport, answer), process, requests)
    try:
        async with asyncio.timeout(launch.start_timeout_s):
            await worker.connection.hello()
    except RequestFailed as failure:
        if failure.gone:
            raise await _ended_at_start(worker, failure.error) from failure
        await worker.stop()
        raise PackError(
            f"The pack {launch.name} refused to start: {failure.error.message}",
            failure.error.hint if launch.log is None else launch.log.named_in(failure.error.hint),
            code=failure.error.code,
        ) from failure
    except TimeoutError as error:
        worker.kill("")
        await worker.stop()
        raise PackError(
            f"The pack {launch.name} did not answer within {launch.start_timeout_s:g} s of its start.",
            "Check whether its import hangs.",
            code="pack.start_timeout",
        ) from error
    except BaseException:
        worker.kill("")
        await worker.stop()
        raise
    return worker


async def _ended_at_start(worker: Worker, error: WireError) -> PackError:
    name = worker.launch.name
    if error.code != "protocol.eof":
        worker.kill("")
        tail = worker.process.stderr_tail if worker.process else ""
        await worker.stop()
        return PackError(
            f"The pack {name} broke the protocol: {error.message} {tail}".strip(), error.hint, code=error.code
        )
    ending = await worker.describe_end()
    await worker.stop()
    return PackError(
        f"The pack {name} could not start: it {ending}", f"Run `evalsi doctor {name}`.", code="pack.start_failed"
    )


async def _transport(launch: Launch, spawned: Spawned | None) -> tuple[Transport, PackProcess | None]:
    if launch.command is not None:
        on_lines = None if launch.log is None else partial(launch.log.write, launch.name)
        process = await attach(spawned or spawn(launch), on_lines)
        return process.transport, process
    if launch.connect is not None:
        return await launch.connect(), None
    memory = MemoryTransport()
    assert launch.serve is not None
    thread = threading.Thread(
        target=launch.serve, args=(memory.pack_channel,), name=f"evalsi-{launch.name}", daemon=True
    )
    thread.start()
    return memory, None
