"""The sans-IO session machine: it turns bytes into events and calls into bytes, and enforces the order of frames.

Kernel, SDK, conformance kit and Wasm host all use it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from evalsi_protocol.errors import LocalMisuse, Violation, WireError
from evalsi_protocol.frames import LENGTH_BYTES, Frame, FrameReader, Kind, encode_frame
from evalsi_protocol.limits import DEFAULT_WINDOW, MAX_FRAME_BYTES, MIN_FRAME_BYTES
from evalsi_protocol.methods import UNWINDOWED, Role, events_from, other, requests_from


class State(Enum):
    """The state of a session."""

    NEW = "new"
    GREETING = "greeting"
    READY = "ready"
    CLOSING = "closing"
    ENDED = "ended"


class RequestReceived(NamedTuple):
    """The peer sent a request. Exactly one `respond` or `fail` must follow."""

    id: int
    method: str
    body: dict[str, Any]
    meta: dict[str, Any]


class ResponseReceived(NamedTuple):
    """The peer answered our request `id`."""

    id: int
    method: str
    body: dict[str, Any]


class ErrorReceived(NamedTuple):
    """The peer answered our request `id` with an error."""

    id: int
    method: str
    error: WireError


class EventReceived(NamedTuple):
    """The peer sent an event, which has no answer."""

    method: str
    body: dict[str, Any]


class CancelReceived(NamedTuple):
    """The peer cancelled its request `id`, which must still be answered once."""

    id: int


class SessionEnded(NamedTuple):
    """The session is over. `error` is None after an orderly `bye`; `open_requests` are our unanswered requests."""

    error: WireError | None
    open_requests: tuple[int, ...]


Event = RequestReceived | ResponseReceived | ErrorReceived | EventReceived | CancelReceived | SessionEnded


class Machine:
    """One end of a session.

    Args:
        role: which end this is.
        window: maximum number of open requests of the peer, without `ping`, `hello` and `bye`. Must equal the value in
            our `hello`.
        max_frame_bytes: maximum size of a received frame. Must equal the value in our `hello`.
    """

    def __init__(self, role: Role, *, window: int = DEFAULT_WINDOW, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.role: Role = role
        self.state = State.NEW
        self.window = window
        self.max_frame_bytes = max_frame_bytes
        self.peer_window = DEFAULT_WINDOW
        self.peer_max_frame_bytes = MAX_FRAME_BYTES
        self._reader = FrameReader(max_frame_bytes)
        self._next_id = 1 if role == "kernel" else 2
        self._last_peer_id = 0
        self._asked: dict[int, str] = {}
        self._to_answer: dict[int, str] = {}
        self._asked_windowed = 0
        self._to_answer_windowed = 0
        self._outbox: list[bytes] = []
        self._offered: tuple[int, ...] = ()

    # -- state ----------------------------------------------------------------------------------------------------

    @property
    def can_request(self) -> bool:
        """Whether a credit is free for a windowed request."""
        return self.state is State.READY and self._asked_windowed < self.peer_window

    @property
    def open_requests(self) -> tuple[int, ...]:
        """Our unanswered requests, oldest first."""
        return tuple(self._asked)

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The peer's unanswered requests, oldest first."""
        return tuple(self._to_answer)

    def data_to_send(self) -> bytes:
        """Return and clear the bytes to send; empty if there are none."""
        data = self._outbox[0] if len(self._outbox) == 1 else b"".join(self._outbox)
        self._outbox.clear()
        return data

    # -- calls: each appends bytes to send ------------------------------------------------------------------------

    def request(self, method: str, body: Any, meta: dict[str, Any] | None = None) -> int:
        """Send a request and return its id. `body` is a map or `Packed`.

        Raises:
            LocalMisuse: the state, the window, the role or the frame's size forbids it; nothing is sent.
        """
        self._check_may_request(method)
        frame_id = self._next_id
        self._send(Kind.REQUEST, frame_id, method, body, meta)
        self._next_id += 2
        self._asked[frame_id] = method
        if method not in UNWINDOWED:
            self._asked_windowed += 1
        if method == "hello":
            self.state = State.GREETING
            self._offered = tuple(body["majors"])
        elif method == "bye":
            self.state = State.CLOSING
        return frame_id

    def respond(self, request_id: int, body: Any) -> None:
        """Answer a request of the peer."""
        method = self._method_to_answer(request_id)
        self._send(Kind.RESPONSE, request_id, method, body)
        self._answered(request_id, method)
        if method == "hello":
            self.state = State.READY

    def fail(self, request_id: int, error: WireError) -> None:
        """Answer a request of the peer with an error."""
        method = self._method_to_answer(request_id)
        self._send(Kind.ERROR, request_id, method, error.to_body())
        self._answered(request_id, method)
        if method == "hello":
            self.state = State.CLOSING

    def tell(self, method: str, body: Any) -> None:
        """Send an event. The `request` of an `item` event must be an open request of the peer.

        Raises:
            LocalMisuse: the state, the role, a closed request or the frame's size forbids it; nothing is sent.
        """
        if method not in events_from(self.role):
            raise _misuse(f"A {self.role} may not send the event {method!r}.")
        if self.state not in (State.READY, State.CLOSING):
            raise _misuse(f"No event can be sent while the session is {self.state.value}.")
        if method == "item" and isinstance(body, dict):
            self._method_to_answer(body.get("request", 0))
        self._send(Kind.EVENT, 0, method, body)

    def cancel(self, request_id: int) -> None:
        """Cancel our request, which is still answered once. Does nothing if it is already answered."""
        if request_id in self._asked and self.state is State.READY:
            self._send(Kind.EVENT, 0, "cancel", {"id": request_id})

    # -- bytes in -------------------------------------------------------------------------------------------------

    def receive(self, data: bytes | bytearray | memoryview) -> list[Event]:
        """Process received bytes and return the events, in order.

        A violation by the peer ends the session. The last event is then `SessionEnded` with the error.
        """
        if self.state is State.ENDED:
            return []
        events: list[Event] = []
        try:
            for frame in self._reader.feed(data):
                event = self._take(frame)
                if event is not None:
                    events.append(event)
        except Violation as violation:
            events.append(self._end(violation.error))
        return events

    def receive_eof(self) -> list[Event]:
        """Process the end of the stream. Return the closing event, or nothing if the session is already over."""
        if self.state is State.ENDED:
            return []
        if self._reader.pending_bytes:
            return [self._end(self._eof_error("in the middle of a frame"))]
        if self.state is State.CLOSING and not self._asked:
            return [self._end(None)]
        return [self._end(self._eof_error("without bye"))]

    # -- inside ---------------------------------------------------------------------------------------------------

    def _take(self, frame: Frame) -> Event | None:
        if frame.kind == Kind.REQUEST:
            return self._take_request(frame)
        if frame.kind == Kind.EVENT:
            return self._take_event(frame)
        return self._take_answer(frame)

    def _take_request(self, frame: Frame) -> Event | None:
        peer: Role = other(self.role)
        if frame.id <= self._last_peer_id or frame.id % 2 != (1 if peer == "kernel" else 0):
            raise _violation("protocol.id", f"The request id {frame.id} is not increasing or has the wrong parity.")
        self._last_peer_id = frame.id
        self._check_order(frame.method)
        if self.state is State.NEW:
            self.state = State.GREETING
            self._learn_peer_limits(frame.body)
        refusal = self._refusal(frame, peer)
        if refusal is not None:
            self._send(Kind.ERROR, frame.id, frame.method, refusal.to_body())
            return None
        self._to_answer[frame.id] = frame.method
        if frame.method not in UNWINDOWED:
            self._to_answer_windowed += 1
        if frame.method == "bye":
            self.state = State.CLOSING
        return RequestReceived(frame.id, frame.method, frame.body, frame.meta)

    def _check_order(self, method: str) -> None:
        if self.state not in (State.NEW, State.GREETING):
            if self.role == "pack" and method == "hello":
                raise _violation("protocol.order", "The kernel sent a second hello.")
        elif self.role == "kernel":
            raise _violation("protocol.order", f"The pack requested {method!r} before it answered hello.")
        elif self.state is State.GREETING:
            raise _violation("protocol.order", f"The kernel requested {method!r} before hello was answered.")
        elif method != "hello":
            raise _violation("protocol.order", f"The first frame was {method!r}, not hello.")

    def _refusal(self, frame: Frame, peer: Role) -> WireError | None:
        if frame.method not in requests_from(peer):
            return WireError(
                "protocol.unknown_method",
                f"The method {frame.method!r} is unknown.",
                "Use only methods that the other side listed in hello.",
                "protocol",
            )
        if self.state is State.CLOSING:
            return WireError("protocol.closing", "The session is closing.", "Open a new session.", "protocol", "later")
        if frame.method not in UNWINDOWED and self._to_answer_windowed >= self.window:
            return WireError(
                "protocol.window",
                f"More than {self.window} requests are open.",
                "Wait for an answer before sending another request.",
                "protocol",
                "later",
            )
        return None

    def _take_event(self, frame: Frame) -> Event | None:
        if self.state not in (State.READY, State.CLOSING):
            raise _violation("protocol.order", f"The event {frame.method!r} arrived before the session was ready.")
        if frame.method == "cancel":
            request_id = frame.body.get("id")
            # An id of another type is invalid, and may not be hashable.
            return CancelReceived(request_id) if type(request_id) is int and request_id in self._to_answer else None
        if frame.method not in events_from(other(self.role)):
            return None
        if frame.method == "item":
            request_id = frame.body.get("request")
            if type(request_id) is not int:
                raise _violation("protocol.item", "An item has no request id.")
            if request_id not in self._asked:
                raise _violation("protocol.item", f"An item is for the request {request_id}, which is not open.")
        return EventReceived(frame.method, frame.body)

    def _take_answer(self, frame: Frame) -> Event:
        method = self._asked.get(frame.id)
        if method is None:
            raise _violation("protocol.answer", f"An answer is for the request {frame.id}, which is not open.")
        if method != frame.method:
            raise _violation("protocol.answer", f"The answer to {method!r} has the method {frame.method!r}.")
        del self._asked[frame.id]
        if method not in UNWINDOWED:
            self._asked_windowed -= 1
        if frame.kind == Kind.ERROR:
            if method == "hello":
                self.state = State.CLOSING
            return ErrorReceived(frame.id, method, WireError.from_body(frame.body))
        if method == "hello":
            major = frame.body.get("major")
            if type(major) is not int or major not in self._offered:
                raise _violation("protocol.version", "The pack chose a protocol major that was not offered.")
            self._learn_peer_limits(frame.body)
            self.state = State.READY
        return ResponseReceived(frame.id, method, frame.body)

    def _learn_peer_limits(self, body: dict[str, Any]) -> None:
        window = body.get("window")
        if type(window) is int and window >= 1:
            self.peer_window = window
        size = body.get("max_frame_bytes")
        if type(size) is int:
            self.peer_max_frame_bytes = max(MIN_FRAME_BYTES, min(size, MAX_FRAME_BYTES))

    def _check_may_request(self, method: str) -> None:
        if method not in requests_from(self.role):
            raise _misuse(f"A {self.role} may not request {method!r}.")
        if method == "hello":
            if self.state is not State.NEW:
                raise _misuse("hello must be the first request, and sent only once.")
        elif self.state is not State.READY:
            raise _misuse(f"{method!r} cannot be requested while the session is {self.state.value}.")
        elif method not in UNWINDOWED and self._asked_windowed >= self.peer_window:
            raise _misuse(f"All {self.peer_window} credits are in use; wait for an answer.")

    def _method_to_answer(self, request_id: int) -> str:
        method = self._to_answer.get(request_id) if type(request_id) is int else None
        if method is None:
            raise _misuse(f"The request {request_id} is not open: already answered, unknown, or the session is over.")
        return method

    def _answered(self, request_id: int, method: str) -> None:
        del self._to_answer[request_id]
        if method not in UNWINDOWED:
            self._to_answer_windowed -= 1

    def _send(self, kind: Kind, frame_id: int, method: str, body: Any, meta: dict[str, Any] | None = None) -> None:
        data = encode_frame(kind, frame_id, method, body, meta)
        if len(data) - LENGTH_BYTES > self.peer_max_frame_bytes:
            raise LocalMisuse(
                WireError(
                    "protocol.too_large",
                    f"A {method!r} frame of {len(data):,} bytes exceeds the limit of {self.peer_max_frame_bytes:,}.",
                    "Split it, or shorten the record.",
                    "record",
                )
            )
        self._outbox.append(data)

    def _end(self, error: WireError | None) -> SessionEnded:
        self.state = State.ENDED
        open_requests = tuple(self._asked)
        self._asked.clear()
        self._to_answer.clear()
        return SessionEnded(error, open_requests)

    def _eof_error(self, how: str) -> WireError:
        peer = other(self.role)
        return WireError("protocol.eof", f"The {peer} closed the stream {how}.", "See its stderr.", peer, "same")


def _violation(code: str, message: str) -> Violation:
    return Violation(WireError(code, message, "Follow the protocol's specification.", "protocol"))


def _misuse(message: str) -> LocalMisuse:
    return LocalMisuse(WireError("protocol.misuse", message, "", "protocol"))
