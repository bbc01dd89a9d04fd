"""Arbitrary bytes in pieces of any size give the same events and no unexpected errors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_protocol.machine import Event, Machine, SessionEnded, State
from evalsi_protocol.methods import KERNEL_REQUESTS, PACK_REQUESTS, Role
from tests.protocol.sessions import greeted, pair

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=4))
    | st.builds(msgpack.Timestamp, st.integers(0, 2**33))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4) | st.integers(0, 9), inner, max_size=4)
    ),
    max_leaves=12,
)
METHODS = st.sampled_from([*KERNEL_REQUESTS, *PACK_REQUESTS, "item", "cancel", "progress", "dance"]) | VALUES
BODIES = (
    st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "request", "items", "window", "code"), VALUES)) | VALUES
)
FRAMES = st.tuples(st.integers(0, 3) | VALUES, st.integers(0, 8) | VALUES, METHODS, BODIES, st.just({}) | VALUES)


def framed(value: Any) -> bytes:
    payload: bytes = msgpack.packb(value)
    return len(payload).to_bytes(4, "big") + payload


def conversation(role: Role) -> tuple[Machine, bytes]:
    """A machine in the middle of a session, and all that the other side sends it from there."""
    kernel, pack = pair()
    asked = [kernel.request("score", {"sessions": [1], "records": [{"id": "é" * n}]}) for n in (1, 50)]
    asked.append(kernel.request("ping", {}))
    kernel.cancel(asked[0])
    to_pack = kernel.data_to_send()
    if role == "pack":
        return pack, to_pack
    pack.receive(to_pack)
    for request_id in reversed(asked):
        if request_id != asked[-1]:
            pack.tell("item", {"request": request_id, "items": [[1, 0, "skipped", {"reason": "x" * 200}]]})
        pack.respond(request_id, {})
    pack.request("judge.ask", {})
    return kernel, pack.data_to_send()


@pytest.mark.spec("FRM-6", "REQ-5")
@given(role=st.sampled_from(["kernel", "pack"]), cuts=st.lists(st.integers(0, 800), max_size=20))
def test_a_stream_gives_the_same_events_however_it_is_cut(role: Role, cuts: list[int]) -> None:
    machine, stream = conversation(role)
    whole = machine.receive(stream)
    assert len(whole) == (4 if role == "pack" else 6)
    again, events = conversation(role)[0], list[Event]()
    for start, end in pairwise(sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})):
        events += again.receive(stream[start:end])
    assert events == whole


@pytest.mark.spec("FRM-7", "LIM-5")
@given(data=st.binary(max_size=200), role=st.sampled_from(["kernel", "pack"]))
def test_arbitrary_bytes_end_a_session_in_good_order_or_wait_for_more(data: bytes, role: Role) -> None:
    machine = greeted(role)
    _assert_orderly(machine, machine.receive(data))


@pytest.mark.spec("FRM-7", "VAL-4")
@given(frames=st.lists(FRAMES, min_size=1, max_size=6), role=st.sampled_from(["kernel", "pack"]), new=st.booleans())
def test_arbitrary_frames_end_a_session_in_good_order_or_are_taken(frames: list[Any], role: Role, new: bool) -> None:
    machine = Machine(role) if new else greeted(role)
    if role == "kernel" and not new:
        machine.request("score", {"sessions": [], "records": []})
    _assert_orderly(machine, machine.receive(b"".join(map(framed, frames))))


def _assert_orderly(machine: Machine, events: list[Event]) -> None:
    ended = [event for event in events if isinstance(event, SessionEnded)]
    assert ended == events[-1:] or not ended
    assert bool(ended) == (machine.state is State.ENDED)
    if ended:
        assert ended[0].error is not None
        assert ended[0].error.code.startswith("protocol.")
    machine.data_to_send()
    assert len(machine.receive_eof()) == (0 if ended else 1)
