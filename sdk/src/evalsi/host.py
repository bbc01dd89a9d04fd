"""The host loop of a pack: one session machine, a reader that never waits, and the caller's thread that works.

The reader takes frames in and answers control at once; the caller's thread does the requests in order.
It must not know what an evaluator computes.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from evalsi.definition import Definition
from evalsi.item_buffer import ItemBuffer
from evalsi.judging import AskError
from evalsi.outbox import Outbox
from evalsi.scoring import Running
from evalsi.work import Work
from evalsi_protocol.channels import Channel
from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.machine import (
    CancelReceived,
    ErrorReceived,
    Event,
    Machine,
    RequestReceived,
    ResponseReceived,
    SessionEnded,
    State,
)
from evalsi_protocol.methods import ITEM_DURATIONS, ITEM_RUNS
from evalsi_protocol.values import check_value

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    from evalsi.loop_asks import LoopAsk, LoopAsks

    Waiting = Future[dict[str, Any]] | LoopAsk

_Result = TypeVar("_Result")
Load = Callable[[], dict[str, Definition]]
LEAVE_S = 5.0
WINDOW = 512
"""How many `score` requests are taken in: for one that waits, of large records, as many as it may have in flight."""
_KERNEL_GONE = WireError("protocol.eof", "The kernel went away.", "", "kernel")


class _Ask(NamedTuple):
    """A request to the kernel that waits for a credit."""

    method: str
    body: dict[str, Any]
    future: Waiting


class Host:
    """Serves one session over one channel.

    Args:
        channel: to the kernel.
        name: of the pack, for `hello`.
        version: of the pack, for `hello`.
        load: imports the pack and gives its evaluators; called once, as soon as it serves. A fault is told on `hello`.
        window: how many `score` requests the kernel may have open.
        on_over: called once, by the reader's thread, as soon as the session is over; work may still go on then.
    """

    def __init__(
        self,
        channel: Channel,
        name: str,
        version: str,
        load: Load,
        *,
        window: int = WINDOW,
        on_over: Callable[[], object] | None = None,
    ) -> None:
        self.window = window
        self._channel = channel
        self._on_over = on_over
        self._machine = Machine("pack", window=window)
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[RequestReceived | None] = queue.SimpleQueue()
        self._outbox = Outbox(channel)
        self._reader_ident = 0
        self._asks: deque[_Ask] = deque()
        self._asked: dict[int, Waiting] = {}
        self._loop_asks: LoopAsks | None = None
        self._cancelled: set[int] = set()
        self._buffers: dict[int, ItemBuffer] = {}
        self._running = Running()
        self._work = Work(self, name, version, load, self._running)

    def serve(self) -> None:
        """Serve until the kernel says goodbye or goes away; returns then, in either case."""
        reader = threading.Thread(target=self._read, name="evalsi-reader", daemon=True)
        reader.start()
        try:
            # The kernel is still loading; what there is to import need not wait for its greeting.
            self._work.load()
            while (request := self._inbox.get()) is not None:
                self._work.do(request)
                if request.method == "bye":
                    break
        finally:
            self._work.close()
            self._outbox.close(LEAVE_S)
            self._channel.close()

    # -- what the worker uses -------------------------------------------------------------------------------------

    def is_cancelled(self, request_id: int) -> bool:
        """Whether the kernel no longer wants this request's answer."""
        return request_id in self._cancelled

    def open_buffer(self, request_id: int, takes: Collection[str]) -> ItemBuffer:
        """The buffer for the outcomes of a request, for a kernel with these capabilities; a ping flushes it too."""
        runs, durations = ITEM_RUNS in takes, ITEM_DURATIONS in takes
        buffer = ItemBuffer(request_id, self._send_event, takes_runs=runs, takes_durations=durations)
        self._buffers[request_id] = buffer
        return buffer

    def respond(self, request_id: int, body: dict[str, Any]) -> None:
        """Answer a request; with an error when the body cannot be sent."""
        self._forget(request_id)
        try:
            self._call(lambda: self._machine.respond(request_id, body))
        except LocalMisuse as misuse:
            self.fail(request_id, misuse.error)
        self._cancelled.discard(request_id)

    def fail(self, request_id: int, error: WireError) -> None:
        """Answer a request with an error."""
        self._forget(request_id)
        # A misuse means that the session ended meanwhile: nobody is left to be told.
        with suppress(LocalMisuse):
            self._call(lambda: self._machine.fail(request_id, error))
        self._cancelled.discard(request_id)

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Ask the kernel for a capability, as soon as a credit is free.

        Returns:
            A future with the response's body; it raises `AskError`. Cancelling it tells the kernel.
        """
        from concurrent.futures import Future  # 10 ms that only an asking pack need pay.

        future: Future[dict[str, Any]] = Future()
        self._ask(method, body, future)
        return future

    def ask_in_loop(self, method: str, body: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Ask as `ask` does, from a task of an event loop; answers that come together wake the loop once."""
        import asyncio

        from evalsi.loop_asks import LoopAsk, LoopAsks

        loop = asyncio.get_running_loop()
        if self._loop_asks is None or self._loop_asks.loop is not loop:
            self._loop_asks = LoopAsks(loop)
        waiting = LoopAsk(self._loop_asks)
        self._ask(method, body, waiting)
        return waiting.future

    # -- threads --------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        self._reader_ident = threading.get_ident()
        try:
            ended = False
            while not ended:
                data = self._receive_bytes()
                take_in = partial(self._machine.receive, data) if data else self._machine.receive_eof
                for event in self._call(take_in):
                    ended = self._take(event) or ended
                self._send_asks()
                ended = ended or not data
        finally:
            # Whatever happened here, nobody may wait for a request or an answer any more.
            self._work.abandon()
            for request_id in list(self._asked):
                self._settle(request_id, AskError(_KERNEL_GONE))
            self._inbox.put(None)
            if self._on_over is not None:
                self._on_over()

    def _receive_bytes(self) -> bytes:
        try:
            return self._channel.read()
        except OSError:
            # A channel that is reset, or that the worker closed after its goodbye, is at its end.
            return b""

    def _take(self, event: Event) -> bool:
        """Act on one event without ever waiting; returns whether the session is over."""
        if isinstance(event, RequestReceived):
            if event.method == "ping":
                self._answer_ping(event)
            else:
                self._inbox.put(event)
        elif isinstance(event, CancelReceived):
            self._cancelled.add(event.id)
            self._work.cancel(event.id)
        elif isinstance(event, ResponseReceived):
            self._settle(event.id, event.body)
        elif isinstance(event, ErrorReceived):
            self._settle(event.id, AskError(event.error))
        elif isinstance(event, SessionEnded):
            self._work.abandon()
            for request_id in event.open_requests:
                self._settle(request_id, AskError(event.error or _KERNEL_GONE))
            return True
        return False

    def _answer_ping(self, ping: RequestReceived) -> None:
        for buffer in list(self._buffers.values()):
            buffer.flush(wait=False)
        self.respond(ping.id, {"running": self._running.report()})

    # -- inside ---------------------------------------------------------------------------------------------------

    def _send_event(self, method: str, body: dict[str, Any]) -> None:
        try:
            self._call(lambda: self._machine.tell(method, body))
        except LocalMisuse as misuse:
            # After the session's end there is nobody to tell; any other misuse is the body's fault.
            if misuse.error.code != "protocol.misuse":
                raise

    def _call(self, step: Callable[[], _Result]) -> _Result:
        """Make a step of the machine and send its bytes.

        They get their place among the others under the machine's lock: two threads that put theirs after it could turn
        ids around, or send an item after its request was answered.
        """
        waits = threading.get_ident() != self._reader_ident
        if waits:
            self._outbox.wait_for_room()
        data = b""
        try:
            with self._lock:
                result = step()
                data = self._machine.data_to_send()
                if data:
                    self._outbox.add(data, takes_room=waits)
        finally:
            if waits and not data:
                self._outbox.give_room_back()
        if data:
            if waits:
                self._outbox.send()
            else:
                self._outbox.send_soon()
        return result

    def _ask(self, method: str, body: dict[str, Any], waiting: Waiting) -> None:
        try:
            check_value(body, allow_bytes=True)
        except LocalMisuse as misuse:
            waiting.set_exception(AskError(misuse.error))
            return
        self._asks.append(_Ask(method, body, waiting))
        self._send_asks()

    def _send_asks(self) -> None:
        """Send the asks that credits allow; fail them when the session takes none any more."""
        sent: list[tuple[int, Waiting]] = []
        failed: list[tuple[Waiting, WireError]] = []
        self._call(partial(self._request_asks, sent, failed))
        # Callbacks of futures run at once: never under the lock.
        for request_id, future in sent:
            future.add_done_callback(partial(self._tell_if_cancelled, request_id))
        for future, error in failed:
            if future.set_running_or_notify_cancel():
                future.set_exception(AskError(error))

    def _request_asks(self, sent: list[tuple[int, Waiting]], failed: list[tuple[Waiting, WireError]]) -> None:
        while self._asks and (self._machine.can_request or self._machine.state is not State.READY):
            ask = self._asks.popleft()
            if ask.future.cancelled():
                continue
            try:
                request_id = self._machine.request(ask.method, ask.body)
            except LocalMisuse as misuse:
                failed.append((ask.future, misuse.error))
            else:
                self._asked[request_id] = ask.future
                sent.append((request_id, ask.future))

    def _tell_if_cancelled(self, request_id: int, future: Waiting) -> None:
        if future.cancelled():
            self._call(lambda: self._machine.cancel(request_id))

    def _settle(self, request_id: int, result: dict[str, Any] | AskError) -> None:
        future = self._asked.pop(request_id)
        if not future.set_running_or_notify_cancel():
            return
        if isinstance(result, AskError):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _forget(self, request_id: int) -> None:
        buffer = self._buffers.pop(request_id, None)
        if buffer is not None:
            buffer.flush()
