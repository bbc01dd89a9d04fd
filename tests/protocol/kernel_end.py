"""A small blocking kernel for tests of the host loop: a session machine over a memory channel."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from evalsi.host import Host
from evalsi.loading import from_objects
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
from evalsi_protocol.methods import PACK_REQUESTS

BOUND_S = 60.0
Answer = dict[str, Any] | WireError


class KernelEnd:
    """Asks, and keeps what comes."""

    def __init__(self, channel: Any, *, window: int = 4) -> None:
        self.channel = channel
        self.window = window
        self.machine = Machine("kernel", window=window)
        self.answers: dict[int, Answer] = {}
        self.items: dict[int, list[list[Any]]] = {}
        self.runs: dict[int, list[list[Any]]] = {}
        self.asks: list[RequestReceived] = []
        self.events: list[Event] = []
        self._bytes: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def hello(self, **limits: Any) -> Answer:
        return self.ask("hello", kernel_hello("test", "0", PACK_REQUESTS, window=self.window) | limits)

    def open(self, session: int, evaluator: str, **more: Any) -> Answer:
        return self.ask("open", {"session": session, "evaluator": evaluator, **more})

    def score(self, records: list[dict[str, Any]], *sessions: int) -> tuple[Answer, list[list[Any]]]:
        """The answer, and the items in the order they came."""
        request_id = self.start("score", {"sessions": list(sessions or (1,)), "records": records})
        return self.wait_for(request_id), self.items[request_id]

    def start(self, method: str, body: dict[str, Any]) -> int:
        request_id = self.machine.request(method, body)
        self.items[request_id], self.runs[request_id] = [], []
        self.send()
        return request_id

    def ask(self, method: str, body: dict[str, Any]) -> Answer:
        return self.wait_for(self.start(method, body))

    def wait_for(self, request_id: int) -> Answer:
        self.until(lambda: request_id in self.answers)
        return self.answers[request_id]

    def send(self) -> None:
        self.channel.write(self.machine.data_to_send())

    def until(self, happened: Callable[[], object]) -> None:
        """Take in bytes until something has happened; `queue.Empty` when it does not in time."""
        while not happened():
            data = self._bytes.get(timeout=BOUND_S)
            for event in self.machine.receive(data) if data else self.machine.receive_eof():
                self._take(event)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ResponseReceived):
            self.answers[event.id] = event.body
        elif isinstance(event, ErrorReceived):
            self.answers[event.id] = event.error
        elif isinstance(event, EventReceived) and event.method == "item":
            self.items[event.body["request"]] += event.body.get("items", [])
            self.runs[event.body["request"]] += event.body.get("runs", [])
        elif isinstance(event, RequestReceived):
            self.asks.append(event)
        elif isinstance(event, SessionEnded):
            assert event.error is None, event.error

    def _read(self) -> None:
        data = b"x"
        while data:
            data = self.channel.read()
            self._bytes.put(data)


@contextmanager
def serving(*evaluators: Any, window: int = 4, kernel_window: int = 4, **limits: Any) -> Iterator[KernelEnd]:
    """A host loop over these evaluators in a thread, greeted; it must have returned by the end."""
    here, there = memory_pair()
    host = Host(there, "tested", "1", lambda: from_objects(evaluators), window=window)
    thread = threading.Thread(target=host.serve, daemon=True)
    thread.start()
    kernel = KernelEnd(here, window=kernel_window)
    assert isinstance(kernel.hello(**limits), dict)
    yield kernel
    here.close()
    thread.join(BOUND_S)
    assert not thread.is_alive()


def texts(*outputs: str) -> list[dict[str, Any]]:
    """Records with these outputs."""
    return [{"id": str(number), "output": output} for number, output in enumerate(outputs)]


def code_of(answer: Answer) -> str:
    assert isinstance(answer, WireError), answer
    return answer.code
