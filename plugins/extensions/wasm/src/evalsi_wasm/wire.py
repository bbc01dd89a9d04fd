"""Run the protocol's session machine on an event loop, for the pack's side of a session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

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
from evalsi_wasm.request_body import Refused

WINDOW: Final = 512
_Ask = tuple[str, dict[str, Any], "asyncio.Future[dict[str, Any]]"]


class Wire:
    """The pack's side of one session.

    Args:
        write: sends bytes to the kernel.
        on_request: called with each request, which must be answered exactly once.
        on_cancel: called with the id of a cancelled request.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        on_request: Callable[[RequestReceived], object],
        on_cancel: Callable[[int], object],
    ) -> None:
        self.is_over = asyncio.Event()
        """Set when the session has ended: `bye` has been answered, or the kernel has disconnected."""
        self._write = write
        self._on_request = on_request
        self._on_cancel = on_cancel
        self._machine = Machine("pack", window=WINDOW)
        self._asks: deque[_Ask] = deque()
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def receive(self, data: bytes) -> None:
        """Process received bytes; empty bytes mean the end of the stream."""
        for event in self._machine.receive(data) if data else self._machine.receive_eof():
            self._take(event)
        self._send_asks()
        self._flush()

    def respond(self, request: RequestReceived, body: dict[str, Any]) -> None:
        """Answer a request; if the body cannot be sent, answer with an error."""
        try:
            self._machine.respond(request.id, body)
        except LocalMisuse as misuse:
            self.fail(request, misuse.error)
        self._answered(request)

    def fail(self, request: RequestReceived, error: WireError) -> None:
        """Answer a request with an error."""
        # A misuse means that the session has ended, so there is no receiver for the error.
        with suppress(LocalMisuse):
            self._machine.fail(request.id, error)
        self._answered(request)

    def tell(self, body: dict[str, Any]) -> WireError | None:
        """Send an `item` event; return the error if its body cannot be sent, else None."""
        try:
            self._machine.tell("item", body)
        except LocalMisuse as misuse:
            # `protocol.misuse` means that the session has ended; any other error is in the body.
            return None if misuse.error.code == "protocol.misuse" else misuse.error
        self._flush()
        return None

    async def ask(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a capability request as soon as a credit is free, and return the kernel's answer.

        Raises:
            Refused: the kernel answered with an error, or the body cannot be sent.
        """
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asks.append((method, body, answer))
        self._send_asks()
        self._flush()
        try:
            return await answer
        except asyncio.CancelledError:
            for request_id in [one for one, waiting in self._asked.items() if waiting is answer]:
                self._machine.cancel(request_id)
            raise

    # -- inside ---------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._on_request(event)
        elif isinstance(event, CancelReceived):
            self._on_cancel(event.id)
        elif isinstance(event, ResponseReceived | ErrorReceived):
            answer = self._asked.pop(event.id)
            if answer.done():
                return
            if isinstance(event, ErrorReceived):
                answer.set_exception(Refused(event.error))
            else:
                answer.set_result(event.body)
        elif isinstance(event, SessionEnded):
            self.is_over.set()

    def _send_asks(self) -> None:
        while self._asks and self._machine.can_request:
            method, body, answer = self._asks.popleft()
            if answer.done():
                continue
            try:
                self._asked[self._machine.request(method, body)] = answer
            except LocalMisuse as misuse:
                answer.set_exception(Refused(misuse.error))

    def _answered(self, request: RequestReceived) -> None:
        self._flush()
        if request.method == "bye" or (request.method == "hello" and self._machine.state is State.CLOSING):
            self.is_over.set()

    def _flush(self) -> None:
        if data := self._machine.data_to_send():
            self._write(data)
