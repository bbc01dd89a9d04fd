"""Test what the machine rejects to send, and the limits of `hello`."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.frames import FrameReader, Packed, pack, pack_array, pack_map
from evalsi_protocol.greeting import kernel_hello, pack_hello
from evalsi_protocol.limits import MAX_ERROR_CHARS, MAX_FRAME_BYTES, MIN_FRAME_BYTES
from evalsi_protocol.machine import ErrorReceived, EventReceived, Machine, RequestReceived, SessionEnded, State
from tests.protocol.sessions import greeted, pair


def greeted_with(**limits: Any) -> Machine:
    """A kernel whose pack named these limits."""
    kernel = Machine("kernel")
    kernel.request("hello", kernel_hello("kernel", "0", []))
    pack_end = Machine("pack")
    (hello,) = pack_end.receive(kernel.data_to_send())
    assert isinstance(hello, RequestReceived)
    pack_end.respond(hello.id, pack_hello(1, "pack", "0", []) | limits)
    kernel.receive(pack_end.data_to_send())
    return kernel


@pytest.mark.spec("LIM-1", "VAL-7")
def test_a_frame_longer_than_the_peer_takes_is_refused_before_a_byte_is_sent() -> None:
    kernel = greeted_with(max_frame_bytes=MIN_FRAME_BYTES)
    with pytest.raises(LocalMisuse) as caught:
        kernel.request("score", {"records": ["x" * MIN_FRAME_BYTES]})
    assert caught.value.error.code == "protocol.too_large"
    assert caught.value.error.source == "record"
    assert kernel.data_to_send() == b""
    assert kernel.open_requests == ()
    # Neither an id nor a credit is lost.
    ids = [kernel.request("score", {}) for _ in range(kernel.peer_window)]
    assert ids == [3, 5, 7, 9]


@pytest.mark.spec("LIM-1", "LIM-2")
def test_a_payload_of_exactly_the_limit_is_taken_and_one_byte_more_ends_the_session() -> None:
    for extra, taken in ((0, True), (1, False)):
        receiver = Machine("pack", max_frame_bytes=MIN_FRAME_BYTES)
        sender = Machine("kernel")
        body = kernel_hello("", "0", [])
        sender.request("hello", body)
        size = len(sender.data_to_send()) - 4
        padded = Machine("kernel")
        padded.request("hello", body | {"x": b"." * (MIN_FRAME_BYTES - size - 5 + extra)})
        data = padded.data_to_send()
        assert len(data) - 4 == MIN_FRAME_BYTES + extra
        (event,) = receiver.receive(data)
        assert isinstance(event, RequestReceived) == taken


@pytest.mark.spec("LIM-3", "WIN-1")
@pytest.mark.parametrize(
    ("named", "size", "window"),
    [
        ({"max_frame_bytes": 1, "window": 0}, MIN_FRAME_BYTES, 4),
        ({"max_frame_bytes": 2**40, "window": 9}, MAX_FRAME_BYTES, 9),
        ({"max_frame_bytes": "big", "window": True}, MAX_FRAME_BYTES, 4),
    ],
)
def test_limits_of_hello_that_make_no_sense_are_read_as_the_nearest_that_do(
    named: dict[str, Any], size: int, window: int
) -> None:
    kernel = greeted_with(**named)
    assert (kernel.peer_max_frame_bytes, kernel.peer_window) == (size, window)


@pytest.mark.spec("ERR-3", "ERR-4")
def test_an_error_can_always_be_sent_however_long_and_odd_its_texts_are() -> None:
    kernel, pack_end = pair()
    pack_end.peer_max_frame_bytes = MIN_FRAME_BYTES
    kernel.request("describe", {})
    pack_end.receive(kernel.data_to_send())
    pack_end.fail(3, WireError("pack.failed", "\ud800" * 10_000_000, "é" * 10_000_000))
    (event,) = kernel.receive(pack_end.data_to_send())
    assert isinstance(event, ErrorReceived)
    assert event.error.message.startswith("\\ud800")
    assert len(event.error.hint) == MAX_ERROR_CHARS


@pytest.mark.spec("VAL-2", "VAL-7", "LIM-5")
@pytest.mark.parametrize("value", ["\ud800", 2**64, object(), {1, 2}])
def test_a_value_without_a_wire_form_is_refused_and_nothing_is_sent(value: Any) -> None:
    kernel = greeted("kernel")
    with pytest.raises(LocalMisuse) as caught:
        kernel.request("describe", {"value": value})
    assert caught.value.error.code == "protocol.unencodable"
    assert kernel.data_to_send() == b""


@pytest.mark.spec("LIM-5")
def test_a_sender_refuses_nesting_beyond_the_codec() -> None:
    value: Any = []
    for _ in range(2000):
        value = [value]
    with pytest.raises(LocalMisuse):
        pack(value)


@pytest.mark.parametrize(
    ("role", "step"),
    [
        ("kernel", lambda machine: machine.request("judge.ask", {})),
        ("pack", lambda machine: machine.request("score", {})),
        ("kernel", lambda machine: machine.request("hello", kernel_hello("kernel", "0", []))),
        ("kernel", lambda machine: machine.tell("item", {"request": 1, "items": []})),
        ("pack", lambda machine: machine.tell("item", {"request": 1, "items": []})),
        ("pack", lambda machine: machine.tell("item", {"request": [1], "items": []})),
        ("pack", lambda machine: machine.respond(1, {})),
        ("pack", lambda machine: machine.fail(2, WireError("pack.failed", ""))),
    ],
    ids=[
        "a_kernel_asks_a_judge",
        "a_pack_scores",
        "hello_again",
        "a_kernel_sends_an_item",
        "an_item_after_the_answer",
        "an_item_for_a_list",
        "an_answer_again",
        "an_answer_to_itself",
    ],
)
def test_what_the_other_side_would_call_a_breach_is_refused_here(role: Any, step: Any) -> None:
    machine = greeted(role)
    with pytest.raises(LocalMisuse) as caught:
        step(machine)
    assert caught.value.error.code == "protocol.misuse"
    assert machine.data_to_send() == b""


@pytest.mark.spec("SES-7", "EVT-3")
def test_nothing_can_be_asked_told_or_answered_after_the_end() -> None:
    kernel, pack_end = pair()
    kernel.request("score", {})
    pack_end.receive(kernel.data_to_send())
    assert pack_end.unanswered == (3,)
    pack_end.receive_eof()
    for step in (
        lambda: pack_end.respond(3, {}),
        lambda: pack_end.request("judge.ask", {}),
        lambda: pack_end.tell("progress", {}),
    ):
        with pytest.raises(LocalMisuse):
            step()
    pack_end.cancel(2)
    assert pack_end.data_to_send() == b""


@pytest.mark.spec("SES-6", "SES-7")
def test_the_end_names_the_requests_that_nobody_will_answer() -> None:
    kernel = greeted("kernel")
    asked = (kernel.request("score", {}), kernel.request("ping", {}))
    (ended,) = kernel.receive_eof()
    assert isinstance(ended, SessionEnded)
    assert ended.open_requests == asked
    assert ended.error is not None
    assert (ended.error.source, ended.error.retry) == ("pack", "same")
    assert kernel.state is State.ENDED


def test_a_kernel_that_goes_away_is_not_blamed_on_the_pack() -> None:
    (ended,) = greeted("pack").receive_eof()
    assert isinstance(ended, SessionEnded)
    assert ended.error is not None
    assert ended.error.source == "kernel"


def test_events_may_be_told_while_the_session_closes() -> None:
    kernel, pack_end = pair()
    kernel.request("score", {})
    kernel.request("bye", {})
    pack_end.receive(kernel.data_to_send())
    pack_end.tell("item", Packed(pack({"request": 3, "items": []})))
    assert kernel.receive(pack_end.data_to_send()) == [EventReceived("item", {"request": 3, "items": []})]


@pytest.mark.parametrize("count", [0, 15, 16, 65535, 65536])
def test_arrays_and_maps_put_together_from_parts_read_like_any_other(count: int) -> None:
    body = pack_map({"list": pack_array([pack(0)] * count, count), **{str(n): n for n in range(min(count, 20))}})
    machine = greeted("kernel")
    machine.request("score", body)
    (frame,) = FrameReader().feed(machine.data_to_send())
    assert frame.body["list"] == [0] * count


def test_several_calls_are_sent_together_in_their_order() -> None:
    machine = greeted("kernel")
    machine.request("ping", {})
    machine.request("describe", {}, {"trace": "abc"})
    assert [frame.method for frame in FrameReader().feed(machine.data_to_send())] == ["ping", "describe"]
    assert machine.data_to_send() == b""
