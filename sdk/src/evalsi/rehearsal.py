"""The kernel's side of a session in the same process, for tests of a pack.

It uses the same session machine and host loop as a real run, over a channel in memory.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from evalsi.host import Host, Load
from evalsi.item_buffer import Item
from evalsi.judging import AskError
from evalsi_protocol.channels import memory_pair
from evalsi_protocol.errors import WireError
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

Answers = Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]

_Result = TypeVar("_Result")


class PackRefused(Exception):
    """The pack answered a request with an error, such as an invalid param."""

    def __init__(self, error: WireError) -> None:
        super().__init__(f"{error.code}: {error}")
        self.error = error


class Rehearsal:
    """One session with a host loop in a separate thread.

    Args:
        load: returns the pack's evaluators, as for `Host`.
        answers: method, such as `judge.ask` → function from the request's body to the answer's. It may raise
            `AskError`. Other methods are not bound.
    """

    def __init__(self, load: Load, answers: Answers) -> None:
        self._channel, theirs = memory_pair()
        self._machine = Machine("kernel")
        self._answers = answers
        self._items: list[Item] = []
        self._host = threading.Thread(target=Host(theirs, "rehearsal", "0", load).serve, daemon=True)
        self._host.start()

    def greet(self) -> None:
        """Send `hello`. Raise `PackRefused` if the pack cannot be loaded."""
        self.request("hello", kernel_hello("rehearsal", "0", self._answers))

    def request(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request, answer the pack's own requests meanwhile, and return the answer.

        Raises:
            PackRefused: the answer is an error, or the pack ended the session.
        """
        request_id = self._machine.request(method, body)
        while True:
            self._channel.write(self._machine.data_to_send())
            data = self._channel.read()
            for event in self._machine.receive(data) if data else self._machine.receive_eof():
                if isinstance(event, ResponseReceived) and event.id == request_id:
                    return event.body
                self._take(event)

    def taken_items(self) -> list[Item]:
        """Return the items received since the last call."""
        items, self._items = self._items, []
        return items

    def close(self) -> None:
        """Close the channel. The host stops after the current record."""
        self._channel.close()

    def _take(self, event: Event) -> None:
        if isinstance(event, ErrorReceived):
            raise PackRefused(event.error)
        if isinstance(event, SessionEnded):
            raise PackRefused(event.error or WireError("protocol.eof", "The pack said goodbye."))
        if isinstance(event, RequestReceived):
            self._answer(event)
        elif isinstance(event, EventReceived) and event.method == "item":
            self._items += event.body["items"]

    def _answer(self, ask: RequestReceived) -> None:
        answer = self._answers.get(ask.method)
        if answer is None:
            hint = f"Pass answers={{{ask.method!r}: lambda body: …}}."
            not_bound = WireError("capability.not_bound", f"Nothing answers {ask.method!r} here.", hint, "config")
            self._machine.fail(ask.id, not_bound)
            return
        try:
            body = answer(ask.body)
        except AskError as error:
            self._machine.fail(ask.id, error.error)
        else:
            self._machine.respond(ask.id, body)


def within(timeout_s: float | None, work: Callable[[], _Result]) -> _Result:
    """Return the result of a function that may hang, run in a thread that is abandoned on timeout.

    Args:
        timeout_s: seconds to wait; None waits forever.
        work: the function to run. Its exceptions are raised here.
    """
    done: queue.SimpleQueue[tuple[_Result | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 -- raised again in the waiting thread.
            done.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        result, error = done.get(timeout=timeout_s)
    except queue.Empty:
        raise TimeoutError(
            f"The pack did not answer within {timeout_s:g} s. Correct it, or pass a longer timeout_s."
        ) from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]
