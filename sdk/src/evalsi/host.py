"""The host loop of a pack: a reader thread that never blocks, and the caller's thread that handles requests.

The reader receives frames and answers control messages at once. The caller's thread handles requests in order.
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
"""Maximum number of open `score` requests: large records come one per request, and async evaluators score many."""
_KERNEL_GONE = WireError("protocol.eof", "The kernel closed the connection.", "", "kernel")


class _Ask(NamedTuple):
    """A request to the kernel that waits for a credit of the kernel's window."""

    method: str
    body: dict[str, Any]
    future: Waiting


class Host:
    """Serve one session over one channel.

    Args:
        channel: channel to the kernel.
        name: name of the pack, for `hello`.
        version: version of the pack, for `hello`.
        load: imports the pack and returns its evaluators. Called once at the start; its errors answer `hello`.
        window: maximum number of `score` requests that the kernel may have open.
        on_over: called once, by the reader thread, when the session ends. Work may still be in progress.
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
        """Serve until the kernel sends `bye` or closes the connection."""
        reader = threading.Thread(target=self._read, name="evalsi-reader", daemon=True)
        reader.start()
        try:
            # Import the pack while the kernel is still starting, before its `hello` arrives.
            self._work.load()
            while (request := self._inbox.get()) is not None:
                self._work.do(request)
                if request.method == "bye":
                    break
        finally:
            self._work.close()
            self._outbox.close(LEAVE_S)
            self._channel.close()

    # -- used by the worker thread --------------------------------------------------------------------------------

    def is_cancelled(self, request_id: int) -> bool:
        """Return whether the kernel cancelled the request."""
        return request_id in self._cancelled

    def open_buffer(self, request_id: int, takes: Collection[str]) -> ItemBuffer:
        """Open the outcome buffer of a request, for a kernel with the capabilities `takes`. A ping flushes it too."""
        runs, durations = ITEM_RUNS in takes, ITEM_DURATIONS in takes
        buffer = ItemBuffer(request_id, self._send_event, takes_runs=runs, takes_durations=durations)
        self._buffers[request_id] = buffer
        return buffer

    def respond(self, request_id: int, body: dict[str, Any]) -> None:
        """Answer a request, with an error if the body cannot be encoded."""
        self._forget(request_id)
        try:
            self._call(lambda: self._machine.respond(request_id, body))
        except LocalMisuse as misuse:
            self.fail(request_id, misuse.error)
        self._cancelled.discard(request_id)

    def fail(self, request_id: int, error: WireError) -> None:
        """Answer a request with an error."""
        self._forget(request_id)
        # A misuse means that the session ended meanwhile, so there is no peer to answer.
        with suppress(LocalMisuse):
            self._call(lambda: self._machine.fail(request_id, error))
        self._cancelled.discard(request_id)

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a request to the kernel as soon as a credit is free.

        Returns:
            A future of the response's body; it raises `AskError`. Cancelling it cancels the request.
        """
        from concurrent.futures import Future  # Imported late: it takes 10 ms.

        future: Future[dict[str, Any]] = Future()
        self._ask(method, body, future)
        return future

    def ask_in_loop(self, method: str, body: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Send a request from a task of an event loop. Answers that arrive together wake the loop once. See `ask`."""
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
            # Release every waiter, however the reader ended.
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
            # The connection was reset, or the worker closed the channel after `bye`.
            return b""

    def _take(self, event: Event) -> bool:
        """Handle one event without blocking. Return whether the session is over."""
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
            # After the end of the session the event is dropped. Any other misuse is an error of the body.
            if misuse.error.code != "protocol.misuse":
                raise

    def _call(self, step: Callable[[], _Result]) -> _Result:
        """Run a step of the machine and send the resulting bytes.

        The bytes are queued under the machine's lock. Otherwise two threads could swap the order of ids, or send an
        outcome after the answer to its request.
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
        """Send as many requests as credits allow; fail them all if the session has ended."""
        sent: list[tuple[int, Waiting]] = []
        failed: list[tuple[Waiting, WireError]] = []
        self._call(partial(self._request_asks, sent, failed))
        # Callbacks of futures run immediately, so they must not run under the lock.
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
