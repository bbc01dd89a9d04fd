"""The kernel's end of a session with a pack: requests as awaitables, and delivery of their outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

from evalsi_kernel.supervision.transports import Transport
from evalsi_kernel.version import VERSION
from evalsi_protocol.errors import LocalMisuse, ProtocolError, WireError
from evalsi_protocol.greeting import kernel_hello
from evalsi_protocol.machine import (
    ErrorReceived,
    Event,
    EventReceived,
    Machine,
    RequestReceived,
    ResponseReceived,
    SessionEnded,
)
from evalsi_protocol.methods import ITEM_DURATIONS, ITEM_RUNS, PACK_REQUESTS, UNWINDOWED

CAPABILITIES = PACK_REQUESTS | {ITEM_RUNS, ITEM_DURATIONS}
# Maximum number of open requests of a pack: high enough that a judge's latency limits the rate, not this window, and
# that all records in flight can wait for one batch of a batch API.
ASK_WINDOW = 8_192
WAIT_SHARE, MAX_WAIT_S = 0.05, 0.005
"""A slow response may be delayed by this share of its duration, to send it together with others."""
OnItems = Callable[[list[Any], list[Any]], None]
"""Receives the outcomes and the runs of an event as the pack sent them, unchecked."""
Answer = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

NOT_BOUND = {
    "judge.ask": ("This run has no judge.", "Name one with --judge-model."),
    "embed.ask": ("This run has no embedding model.", "Name one with --embed-model."),
    "sandbox.run": ("This run has no sandbox.", "Choose evaluators that need none."),
    "blob.get": ("This run has no blob store.", "Choose evaluators that need none."),
    "blob.put": ("This run has no blob store.", "Choose evaluators that need none."),
}


class Pending(NamedTuple):
    """An open request: its ID, the future of its response body, and the receiver of its outcomes."""

    id: int
    answer: asyncio.Future[dict[str, Any]]
    on_items: OnItems | None


class RequestFailed(Exception):
    """The pack responded with an error, or is gone.

    Args:
        error: the error.
        gone: whether the pack ended before it responded.
    """

    def __init__(self, error: WireError, *, gone: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.gone = gone


async def not_bound(method: str, body: dict[str, Any]) -> dict[str, Any]:
    """Reject a request of a pack, because this run does not provide the capability."""
    message, hint = NOT_BOUND[method]
    raise RequestFailed(WireError("capability.not_bound", message, hint, "config"))


def _retrieve_exception(answer: asyncio.Future[dict[str, Any]]) -> None:
    """Retrieve the exception, because a caller that was cancelled never awaits the future."""
    if not answer.cancelled():
        answer.exception()


class Connection:
    """A session over a transport.

    Args:
        transport: the byte stream to the pack.
        answer: handles requests of the pack; raises `RequestFailed` to reject one.
    """

    def __init__(self, transport: Transport, answer: Answer = not_bound) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._machine = Machine("kernel", window=ASK_WINDOW)
        self._answer = answer
        self._pending: dict[int, Pending] = {}
        self._credit = asyncio.Condition()
        self._asks: dict[int, asyncio.Task[None]] = {}
        self._ended: WireError | None = None
        self._sends_at = inf
        self.is_over = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    @property
    def asks_open(self) -> int:
        """Number of the pack's own requests that wait for the kernel; the pack's timeouts are paused meanwhile."""
        return len(self._asks)

    async def hello(self) -> dict[str, Any]:
        """Send hello and return the pack's half; raise `RequestFailed` where the pack refuses or ends."""
        return await self.request("hello", kernel_hello("evalsi", VERSION, CAPABILITIES, window=ASK_WINDOW))

    async def request(self, method: str, body: Any) -> dict[str, Any]:
        """Send a request once a credit is free, and return the body of the response.

        Raises:
            RequestFailed: the pack responded with an error, or is gone.
        """
        return await (await self.start_request(method, body)).answer

    async def start_request(self, method: str, body: Any, on_items: OnItems | None = None) -> Pending:
        """Send a request like `request`, but return without waiting for the response."""
        if method not in UNWINDOWED:
            async with self._credit:
                await self._credit.wait_for(lambda: self._machine.can_request or self._ended is not None)
        if self._ended is not None:
            raise RequestFailed(self._ended, gone=True)
        try:
            request_id = self._machine.request(method, body)
        except ProtocolError as error:
            raise RequestFailed(error.error) from error
        pending = self._pending[request_id] = Pending(request_id, self._loop.create_future(), on_items)
        pending.answer.add_done_callback(_retrieve_exception)
        self._send()
        with suppress(ConnectionError):
            # The reader sees the end as well, and fails this request with the pack's last output.
            await self._transport.drain()
        return pending

    def cancel_all(self) -> None:
        """Send a cancellation for every open request."""
        for request_id in self._machine.open_requests:
            self._machine.cancel(request_id)
        self._send()

    def close_writing(self) -> None:
        """Close the pack's input."""
        self._transport.close_writing()

    @property
    def ending(self) -> str:
        """How the stream ended, as the end of a sentence about the pack."""
        return self._transport.ending

    @property
    def violation(self) -> str:
        """Which violation of the protocol ended the session, as the end of a sentence; "" where there was none."""
        ended = self._ended
        if ended is None or ended.code in ("protocol.eof", "kernel.aborted"):
            return ""
        how = "was ended because" if ended.source == "kernel" else "broke the protocol:"
        return f"{how} {ended.message}"

    def abort(self, why: str) -> None:
        """End the session at once; open requests fail as gone."""
        self._ended = self._ended or WireError("kernel.aborted", why, "", "kernel")
        self._reading.cancel()
        self._ending = asyncio.create_task(self._end(self._ended))

    async def close(self) -> None:
        """Stop reading; open requests fail as gone."""
        self._reading.cancel()
        for task in self._asks.values():
            task.cancel()
        await asyncio.gather(self._reading, *self._asks.values(), return_exceptions=True)
        await self._end(WireError("protocol.eof", "The session was closed.", "", "kernel"))

    async def _read(self) -> None:
        try:
            await self._read_all()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # Fail the open requests, which would otherwise wait forever.
            fault = f"the kernel's reader failed: {type(error).__name__}: {error}"
            await self._end(WireError("kernel.internal", fault, "Report it.", "kernel"))
            raise

    async def _read_all(self) -> None:
        while not self.is_over.is_set():
            data = await self._transport.read()
            for event in self._machine.receive(data) if data else self._machine.receive_eof():
                await self._take(event)
            self._send()
            if self._machine.can_request:
                await self._notify()
            if not data:
                await self._end(WireError("protocol.eof", "The pack went away.", "", "pack"))

    async def _take(self, event: Event) -> None:
        if isinstance(event, EventReceived):
            if event.method == "item":
                self._take_items(event.body)
        elif isinstance(event, ResponseReceived):
            self._settle(event.id, event.body, None)
        elif isinstance(event, ErrorReceived):
            self._settle(event.id, {}, RequestFailed(event.error))
        elif isinstance(event, RequestReceived):
            self._asks[event.id] = asyncio.create_task(self._serve(event))
        elif isinstance(event, SessionEnded):
            await self._end(event.error or WireError("protocol.eof", "The pack said goodbye.", "", "pack"))

    def _take_items(self, body: dict[str, Any]) -> None:
        pending = self._pending.get(body["request"])
        if pending is not None and pending.on_items is not None:
            items, runs = body.get("items"), body.get("runs")
            pending.on_items(items if type(items) is list else [], runs if type(runs) is list else [])

    def _settle(self, request_id: int, body: dict[str, Any], failure: RequestFailed | None) -> None:
        pending = self._pending.pop(request_id, None)
        if pending is None or pending.answer.done():
            return
        if failure is None:
            pending.answer.set_result(body)
        else:
            pending.answer.set_exception(failure)

    async def _serve(self, request: RequestReceived) -> None:
        began_at = self._loop.time()
        try:
            self._machine.respond(request.id, await self._answer(request.method, request.body))
        except (RequestFailed, LocalMisuse) as failure:
            self._refuse(request.id, failure.error)
        except Exception as error:
            self._refuse(request.id, WireError("kernel.internal", f"{type(error).__name__}: {error}", "", "kernel"))
            raise
        finally:
            del self._asks[request.id]
            # Responses of a provider may be delayed to share a write; cached ones are sent at once.
            self._send_within(min(MAX_WAIT_S, (self._loop.time() - began_at) * WAIT_SHARE))

    def _refuse(self, request_id: int, error: WireError) -> None:
        # A misuse means that the session has ended, so there is no one to respond to.
        with suppress(LocalMisuse):
            self._machine.fail(request_id, error)

    async def _end(self, error: WireError) -> None:
        if self._ended is None:
            self._ended = error
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(RequestFailed(self._ended, gone=True))
        self._pending.clear()
        self.is_over.set()
        await self._notify()

    async def _notify(self) -> None:
        async with self._credit:
            self._credit.notify_all()

    def _send_within(self, wait_s: float) -> None:
        """Send after at most this time: responses within it share one write and wake the pack once."""
        at = self._loop.time() + wait_s
        if at < self._sends_at:
            self._sends_at = at
            self._loop.call_at(at, self._send)

    def _send(self) -> None:
        self._sends_at = inf
        data = self._machine.data_to_send()
        if data:
            self._transport.write(data)
