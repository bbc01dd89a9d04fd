"""Test two machines against each other with random schedules of calls and deliveries."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.machine import (
    CancelReceived,
    ErrorReceived,
    EventReceived,
    Machine,
    RequestReceived,
    ResponseReceived,
    SessionEnded,
)
from evalsi_protocol.methods import UNWINDOWED, Role, other
from tests.protocol.sessions import pair

WINDOWS: dict[Role, int] = {"kernel": 3, "pack": 2}
BOTH: tuple[Role, Role] = ("kernel", "pack")
ROLES = st.sampled_from(BOTH)
ASKS: dict[Role, str] = {"kernel": "score", "pack": "judge.ask"}


class Session(RuleBasedStateMachine):
    """Bytes wait in two pipes until a rule delivers some of them."""

    def __init__(self) -> None:
        super().__init__()
        kernel, pack = pair(kernel_window=WINDOWS["kernel"], pack_window=WINDOWS["pack"])
        self.machines: dict[Role, Machine] = {"kernel": kernel, "pack": pack}
        self.pipes: dict[Role, bytearray] = {"kernel": bytearray(), "pack": bytearray()}  # To whom.
        self.asked: dict[Role, list[int]] = {"kernel": [], "pack": []}
        self.open: dict[Role, dict[int, str]] = {"kernel": {}, "pack": {}}  # At whom.
        self.answers: Counter[tuple[Role, int]] = Counter()
        self.items: Counter[int] = Counter()
        self.items_sent: Counter[int] = Counter()

    # -- rules ----------------------------------------------------------------------------------------------------

    @rule(role=ROLES)
    def ask(self, role: Role) -> None:
        machine = self.machines[role]
        if machine.can_request:
            self.asked[role].append(machine.request(ASKS[role], {}))
        else:
            with pytest.raises(LocalMisuse):
                machine.request(ASKS[role], {})

    @rule()
    def ping(self) -> None:
        self.asked["kernel"].append(self.machines["kernel"].request("ping", {}))

    @rule(role=ROLES, pick=st.integers(0, 9), well=st.booleans())
    def answer(self, role: Role, pick: int, well: bool) -> None:
        waiting = list(self.open[role])
        if not waiting:
            return
        request_id = waiting[pick % len(waiting)]
        del self.open[role][request_id]
        if well:
            self.machines[role].respond(request_id, {})
        else:
            self.machines[role].fail(request_id, WireError("pack.failed", "No."))
        with pytest.raises(LocalMisuse):
            self.machines[role].respond(request_id, {})

    @rule(pick=st.integers(0, 9))
    def send_item(self, pick: int) -> None:
        scored = [request_id for request_id, method in self.open["pack"].items() if method == "score"]
        if scored:
            request_id = scored[pick % len(scored)]
            self.machines["pack"].tell("item", {"request": request_id, "items": [[1, self.items_sent[request_id]]]})
            self.items_sent[request_id] += 1

    @rule(role=ROLES, pick=st.integers(0, 99))
    def cancel(self, role: Role, pick: int) -> None:
        """Of any request ever asked: many are answered, or their answer is on its way."""
        if self.asked[role]:
            self.machines[role].cancel(self.asked[role][pick % len(self.asked[role])])

    @rule(role=ROLES, count=st.integers(1, 60))
    def deliver(self, role: Role, count: int) -> None:
        self._take_out()
        pipe = self.pipes[role]
        data = bytes(pipe[:count])
        del pipe[:count]
        for event in self.machines[role].receive(data):
            assert not isinstance(event, SessionEnded), event
            if isinstance(event, RequestReceived):
                assert event.id not in self.open[role]
                self.open[role][event.id] = event.method
            elif isinstance(event, (ResponseReceived, ErrorReceived)):
                if isinstance(event, ErrorReceived):
                    assert event.error.code == "pack.failed"
                self.answers[role, event.id] += 1
            elif isinstance(event, CancelReceived):
                assert event.id in self.open[role]
            elif isinstance(event, EventReceived):
                self.items[event.body["request"]] += 1

    @precondition(lambda self: any(self.pipes.values()))
    @rule()
    def deliver_all(self) -> None:
        for role in BOTH:
            self._take_out()
            self.deliver(role, len(self.pipes[role]) or 1)

    # -- what always holds ----------------------------------------------------------------------------------------

    @invariant()
    def no_request_is_answered_twice(self) -> None:
        assert set(self.answers.values()) <= {1}

    @invariant()
    def no_window_is_exceeded(self) -> None:
        for role, window in WINDOWS.items():
            windowed = [method for method in self.open[role].values() if method not in UNWINDOWED]
            assert len(windowed) <= window

    @invariant()
    def ids_grow_and_keep_their_parity(self) -> None:
        for role, parity in zip(BOTH, (1, 0), strict=True):
            ids = self.asked[role]
            assert ids == sorted(set(ids))
            assert all(request_id % 2 == parity for request_id in ids)

    def teardown(self) -> None:
        """Deliver and answer all: then each request has its answer, and each item came."""
        while any(self.open.values()) or self._take_out():
            for role in BOTH:
                self.deliver(role, 1_000_000)
                while self.open[role]:
                    self.answer(role, 0, True)
        for role in BOTH:
            assert all(self.answers[role, request_id] == 1 for request_id in self.asked[role])
            assert self.machines[role].open_requests == ()
            assert self.machines[role].unanswered == ()
        assert self.items == self.items_sent

    def _take_out(self) -> bool:
        for role in BOTH:
            self.pipes[other(role)] += self.machines[role].data_to_send()
        return any(self.pipes.values())


@pytest.mark.spec("REQ-1", "REQ-2", "REQ-3", "WIN-1", "WIN-2", "CAN-2", "CAN-3", "ITM-1")
def test_each_request_is_answered_once_within_the_windows_whatever_the_schedule() -> None:
    Session.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
    Session.TestCase("runTest").debug()
