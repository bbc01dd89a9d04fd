"""The host loop of a pack: one session machine, three threads, no waiting reader.

The reader takes frames in and answers control at once; the caller's thread does the work in order; the writer sends.
It must not know what an evaluator computes.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evalsi_protocol.channels import Channel
from evalsi_protocol.errors import LocalMisuse, ProtocolError, WireError
from evalsi_protocol.machine import (
    CancelReceived,
    ErrorReceived,
    Event,
    Machine,
    RequestReceived,
    ResponseReceived,
    SessionEnded,
)

from evalsi.context import AskError
from evalsi.definition import Definition
from evalsi.item_buffer import ItemBuffer
from evalsi.scoring import Running
from evalsi.work import Work

if TYPE_CHECKING:
    from concurrent.futures import Future

Load = Callable[[], dict[str, Definition]]
OUTBOX_FRAMES = 64


class Host:
    """Serves one session over one channel.

    Args:
        channel: to the kernel.
        name: of the pack, for `hello`.
        version: of the pack, for `hello`.
        load: imports the pack and gives its evaluators; called once, on `hello`.
        window: how many `score` requests the kernel may have open.
    """

    def __init__(self, channel: Channel, name: str, version: str, load: Load, *, window: int = 4) -> None:
        self._channel = channel
        self._machine = Machine("pack", window=window)
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[RequestReceived | None] = queue.SimpleQueue()
        # Frames to write, and whether each takes room: whoever works may wait for the writer, the reader never does.
        self._outbox: queue.SimpleQueue[tuple[bytes, bool] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(OUTBOX_FRAMES)
        self._reader_ident = 0
        self._asked: dict[int, Future[dict[str, Any]]] = {}
        self._cancelled: set[int] = set()
        self._buffers: dict[int, ItemBuffer] = {}
        self._running = Running()
        self._work = Work(self, name, version, load, self._running)

    def serve(self) -> None:
        """Serve until the kernel says goodbye or goes away; returns then, in either case."""
        writer = threading.Thread(target=self._write, name="evalsi-writer", daemon=True)
        reader = threading.Thread(target=self._read, name="evalsi-reader", daemon=True)
        writer.start()
        reader.start()
        while (request := self._inbox.get()) is not None:
            self._work.do(request)
            if request.method == "bye":
                break
        self._work.close()
        self._outbox.put(None)
        writer.join(timeout=5)
        self._channel.close()

    # -- what the worker uses -------------------------------------------------------------------------------------

    def is_cancelled(self, request_id: int) -> bool:
        """Whether the kernel no longer wants this request's answer."""
        return request_id in self._cancelled

    def open_buffer(self, request_id: int) -> ItemBuffer:
        """The buffer for the items of a request; a ping flushes it too."""
        buffer = ItemBuffer(request_id, self._send_event)
        self._buffers[request_id] = buffer
        return buffer

    def respond(self, request_id: int, body: dict[str, Any]) -> None:
        """Answer a request."""
        self._forget(request_id)
        try:
            self._call(lambda: self._machine.respond(request_id, body))
        except LocalMisuse as misuse:
            self.fail(request_id, misuse.error)

    def fail(self, request_id: int, error: WireError) -> None:
        """Answer a request with an error."""
        self._forget(request_id)
        try:
            self._call(lambda: self._machine.fail(request_id, error))
        except LocalMisuse:
            # The session ended meanwhile: nobody is left to be told.
            return

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        """Ask the kernel for a capability; the future holds the response's body or raises `AskError`."""
        from concurrent.futures import Future  # 10 ms that only an asking pack need pay.

        future: Future[dict[str, Any]] = Future()
        with self._lock:
            try:
                request_id = self._machine.request(method, body)
            except ProtocolError as error:
                future.set_exception(AskError(error.error))
                return future
            self._asked[request_id] = future
            data = self._machine.data_to_send()
        self._put(data)
        return future

    # -- threads --------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        self._reader_ident = threading.get_ident()
        ended = False
        while not ended:
            data = self._channel.read()
            with self._lock:
                events = self._machine.receive(data) if data else self._machine.receive_eof()
            self._flush_outgoing()
            for event in events:
                ended = self._take(event) or ended
            ended = ended or not data
        self._inbox.put(None)

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
            self._asked.pop(event.id).set_result(event.body)
        elif isinstance(event, ErrorReceived):
            self._asked.pop(event.id).set_exception(AskError(event.error))
        elif isinstance(event, SessionEnded):
            gone = event.error or WireError("protocol.eof", "The kernel went away.", "", "kernel")
            self._work.abandon()
            for request_id in event.open_requests:
                self._asked.pop(request_id).set_exception(AskError(gone))
            return True
        return False

    def _answer_ping(self, ping: RequestReceived) -> None:
        for buffer in list(self._buffers.values()):
            buffer.flush()
        self._call(lambda: self._machine.respond(ping.id, {"running": self._running.report()}))

    def _write(self) -> None:
        gone = False
        while (frames := self._outbox.get()) is not None:
            data, takes_room = frames
            try:
                if not gone:
                    self._channel.write(data)
            except OSError:
                # The kernel is gone; the reader sees it too and ends the session. Keep taking, so nobody waits.
                gone = True
            if takes_room:
                self._room.release()

    # -- inside ---------------------------------------------------------------------------------------------------

    def _send_event(self, method: str, body: dict[str, Any]) -> None:
        try:
            self._call(lambda: self._machine.tell(method, body))
        except LocalMisuse as misuse:
            # After the session's end there is nobody to tell; any other misuse is the body's fault.
            if misuse.error.code != "protocol.misuse":
                raise

    def _call(self, step: Callable[[], object]) -> None:
        with self._lock:
            step()
            data = self._machine.data_to_send()
        self._put(data)

    def _flush_outgoing(self) -> None:
        with self._lock:
            data = self._machine.data_to_send()
        self._put(data)

    def _put(self, data: bytes) -> None:
        if data:
            takes_room = threading.get_ident() != self._reader_ident
            if takes_room:
                self._room.acquire()
            self._outbox.put((data, takes_room))

    def _forget(self, request_id: int) -> None:
        buffer = self._buffers.pop(request_id, None)
        if buffer is not None:
            buffer.flush()
        self._cancelled.discard(request_id)
