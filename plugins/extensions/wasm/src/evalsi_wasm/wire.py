"""The session machine on an event loop: requests come out, answers, outcomes and asks go in.

It must not know what a request asks, nor a module.
"""

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
    """One session, as the pack sees it.

    Args:
        write: takes bytes for the kernel.
        on_request: is told of each request, which must be answered once.
        on_cancel: is told of the id of a request that is no longer wanted.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        on_request: Callable[[RequestReceived], object],
        on_cancel: Callable[[int], object],
    ) -> None:
        self.is_over = asyncio.Event()
        """Set once nothing more comes: the kernel has said goodbye and is answered, or is gone."""
        self._write = write
        self._on_request = on_request
        self._on_cancel = on_cancel
        self._machine = Machine("pack", window=WINDOW)
        self._asks: deque[_Ask] = deque()
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def receive(self, data: bytes) -> None:
        """Take in bytes, none at the stream's end."""
        for event in self._machine.receive(data) if data else self._machine.receive_eof():
            self._take(event)
        self._send_asks()
        self._flush()

    def respond(self, request: RequestReceived, body: dict[str, Any]) -> None:
        """Answer a request; with an error when the body cannot be sent."""
        try:
            self._machine.respond(request.id, body)
        except LocalMisuse as misuse:
            self.fail(request, misuse.error)
        self._answered(request)

    def fail(self, request: RequestReceived, error: WireError) -> None:
        """Answer a request with an error."""
        # A misuse means that the session ended meanwhile: nobody is left to be told.
        with suppress(LocalMisuse):
            self._machine.fail(request.id, error)
        self._answered(request)

    def tell(self, body: dict[str, Any]) -> WireError | None:
        """Send an event of outcomes; returns why it cannot be sent."""
        try:
            self._machine.tell("item", body)
        except LocalMisuse as misuse:
            # After the session's end there is nobody to tell; any other misuse is the body's fault.
            return None if misuse.error.code == "protocol.misuse" else misuse.error
        self._flush()
        return None

    async def ask(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask the kernel for a capability, as soon as a credit is free; raises `Refused`."""
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
