"""The kernel's side of a session with the pack under test, with a deadline for each request.

It uses the protocol's session machine, answers the pack's requests with the scripted judge, and stores all items.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from math import inf
from typing import Any, Final, NamedTuple

from evalsi_conformance.pack_process import PackProcess
from evalsi_conformance.scripted_judge import ScriptedJudge
from evalsi_protocol.errors import LocalMisuse, WireError
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
from evalsi_protocol.methods import ITEM_DURATIONS, ITEM_RUNS

CAPABILITIES: Final = ("judge.ask", "embed.ask")
START_S: Final = 120.0
SHOWN_CHARS: Final = 600


class Lost(Exception):
    """The session ended early: the pack hung, crashed, or violated the protocol. The message says which."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Item(NamedTuple):
    """One outcome as received."""

    session: Any
    index: Any
    outcome: Any
    payload: Any


class Session:
    """One session with one process.

    Args:
        process: process of the pack.
        judge: answers the pack's requests.
        timeout_s: timeout of one answer.
        start_timeout_s: timeout from the start of the process to the answer to `hello`.
        takes_runs: whether to list the capabilities for runs and durations in `hello`.
    """

    def __init__(
        self,
        process: PackProcess,
        judge: ScriptedJudge,
        timeout_s: float,
        *,
        start_timeout_s: float = START_S,
        takes_runs: bool = False,
    ) -> None:
        self.process = process
        self.judge = judge
        self.timeout_s = timeout_s
        self.start_timeout_s = start_timeout_s
        self.takes_runs = takes_runs
        self.items: dict[int, list[Item]] = {}
        self.wrong_items: list[str] = []
        self.first_item_s: dict[int, float] = {}
        """Request → arrival of its first item, by `time.monotonic`."""
        self.holds_asks = False
        self.lets_through = ""
        """Id of the only record whose requests are answered while others are delayed."""
        self.is_over = False
        self._held: list[RequestReceived] = []
        self._machine = Machine("kernel", window=512)
        self._answers: dict[int, dict[str, Any] | WireError] = {}
        self._methods: dict[int, str] = {}

    def hello(self) -> dict[str, Any] | WireError:
        """Send `hello`."""
        capabilities = (*CAPABILITIES, ITEM_RUNS, ITEM_DURATIONS) if self.takes_runs else CAPABILITIES
        request = self.begin("hello", kernel_hello("evalsi-conformance", "1", capabilities, window=512))
        return self.answer_to(request, self.start_timeout_s)

    def ask(self, method: str, body: dict[str, Any]) -> dict[str, Any] | WireError:
        """Send a request, and wait for the answer, which may be an error.

        Raises:
            Lost: no answer arrived before the deadline.
        """
        return self.answer_to(self.begin(method, body))

    def begin(self, method: str, body: dict[str, Any]) -> int:
        """Send a request without waiting. Return its id, for `answer_to`."""
        try:
            request = self._machine.request(method, body)
        except LocalMisuse as misuse:
            raise Lost(f"{method} cannot be asked: {misuse.error.message}", "") from misuse
        self.items[request] = []
        self._methods[request] = method
        self.process.send(self._machine.data_to_send())
        return request

    @property
    def window(self) -> int:
        """The pack's maximum number of open requests."""
        return self._machine.peer_window

    def cancel(self, request: int) -> None:
        """Cancel a request."""
        self._machine.cancel(request)
        self.process.send(self._machine.data_to_send())

    def send_raw(self, data: bytes) -> None:
        """Send bytes without the machine."""
        self.process.send(data)

    def answer_to(self, request: int, timeout_s: float | None = None) -> dict[str, Any] | WireError:
        """Wait for the answer to a request that was sent earlier.

        Raises:
            Lost: no answer arrived before the deadline.
        """
        bound_s = timeout_s or self.timeout_s
        deadline_s = time.monotonic() + bound_s
        while request not in self._answers:
            self._advance(deadline_s, bound_s)
        return self._answers.pop(request)

    def wait_for_ask(self, request: int) -> bool:
        """Wait until the pack sends a request that is delayed, or answers. Return whether it sent one."""
        deadline_s = time.monotonic() + self.timeout_s
        while request not in self._answers and not self._held:
            self._advance(deadline_s, self.timeout_s)
        return bool(self._held)

    def has_answer(self, request: int) -> bool:
        """Return whether a request is answered."""
        return request in self._answers

    def wait_for_items(self, request: int, count: int, within_s: float) -> bool:
        """Wait until a request has this many items or is answered. Return whether it has them."""
        deadline_s = time.monotonic() + within_s
        while request not in self._answers and len(self.items[request]) < count:
            if not self._advance_until(deadline_s):
                break
        return len(self.items[request]) >= count

    def release_asks(self) -> None:
        """Answer the delayed requests, and stop delaying."""
        self.holds_asks, self.lets_through = False, ""
        held, self._held = self._held, []
        for ask in held:
            self._answer(ask)

    def bye(self) -> None:
        """Send `bye`, and wait for the answer and the end of the process.

        Raises:
            Lost: the pack did not answer, or its process did not end.
        """
        self.ask("bye", {})
        self.is_over = True
        self.process.close_input()

    def _advance(self, deadline_s: float, bound_s: float) -> None:
        try:
            data = self.process.receive(deadline_s)
        except TimeoutError:
            methods = ", ".join(sorted({self._methods[one] for one in self._machine.open_requests}))
            raise self._lost(
                f"It did not answer {methods} within {bound_s:g} s.",
                "Answer each request once, and read on while you work.",
            ) from None
        self._take_all(data)

    def _advance_until(self, deadline_s: float) -> bool:
        """Process the next received bytes. Return whether any arrived before the deadline."""
        try:
            data = self.process.receive(deadline_s)
        except TimeoutError:
            return False
        self._take_all(data)
        return True

    def _take_all(self, data: bytes) -> None:
        for event in self._machine.receive(data) if data else self._machine.receive_eof():
            self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, ResponseReceived):
            self._answers[event.id] = event.body
        elif isinstance(event, ErrorReceived):
            self._answers[event.id] = event.error
        elif isinstance(event, RequestReceived):
            if self.holds_asks and not (self.lets_through and event.body.get("record") == self.lets_through):
                self._held.append(event)
            else:
                self._answer(event)
        elif isinstance(event, EventReceived) and event.method == "item":
            self._keep(event.body)
        elif isinstance(event, SessionEnded):
            error = event.error or WireError("protocol.eof", "It ended the session.")
            what, hint = error.message, error.hint
            if error.code == "protocol.eof":
                code = self.process.exit_code(1.0)
                what = "Its process closed the stream" + ("" if code is None else f" and ended with code {code}") + "."
                hint = "See its log for the cause."
            elif error.code in ("protocol.frame", "protocol.kind"):
                what = f"It wrote on stdout what is no frame: {what}"
                hint = "Write frames only; print to stderr."
            raise self._lost(what, hint)

    def _answer(self, ask: RequestReceived) -> None:
        answer = self.judge.answer(ask.method, ask.body)
        if isinstance(answer, WireError):
            self._machine.fail(ask.id, answer)
        else:
            self._machine.respond(ask.id, answer)
        self.process.send(self._machine.data_to_send())

    def _keep(self, body: dict[str, Any]) -> None:
        self.first_item_s.setdefault(body["request"], time.monotonic())
        kept = self.items[body["request"]]
        items = body.get("items", [])
        for item in items if isinstance(items, list) else [items]:
            if not isinstance(item, list) or len(item) not in (4, 5):
                self.wrong_items.append(f"an item is {item!r:.80}, not [session, index, outcome, payload]")
                continue
            kept.append(Item(*item[:4]))
            for ms in item[4:]:
                self._check_duration(ms)
        runs = body.get("runs", [])
        if runs and not self.takes_runs:
            self.wrong_items.append("a run came to a kernel that did not name item.runs (ITM-7)")
        for run in runs if isinstance(runs, list) else [runs]:
            try:
                kept.extend(_of_run(run))
            except (TypeError, ValueError):
                self.wrong_items.append(f"a run is {run!r:.80}, not [session, first, columns] of one length (ITM-6)")

    def _check_duration(self, ms: Any) -> None:
        if not self.takes_runs:
            self.wrong_items.append(
                "an item says how long it took to a kernel that did not name item.durations (ITM-8)"
            )
        elif type(ms) not in (int, float) or not 0 < ms < inf:
            self.wrong_items.append(
                f"an item took {ms!r:.40}, which is no finite number of milliseconds above 0 (ITM-9)"
            )

    def _lost(self, message: str, hint: str) -> Lost:
        self.is_over = True
        log = self.process.log_tail()
        if log:
            message = f"{message} Its log ends: {log[-SHOWN_CHARS:]}"
        return Lost(message, hint)


def _of_run(run: Any) -> Iterable[Item]:
    session, first, columns = run
    lengths = {len(values) for _, _, values in columns}
    if len(lengths) != 1:
        raise ValueError
    for place in range(lengths.pop()):
        scores = [{**({"name": name} if name else {}), key: values[place]} for name, key, values in columns]
        yield Item(session, first + place, "scored", scores)
