"""Play one side of a scripted dialogue with a `Machine`, and report deviations.

`protocol/vectors/README.md` says what the keys of a step mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.frames import Frame, FrameReader, Kind, encode_frame
from evalsi_protocol.machine import (
    CancelReceived,
    ErrorReceived,
    Event,
    EventReceived,
    Machine,
    RequestReceived,
    ResponseReceived,
    SessionEnded,
    State,
)
from evalsi_protocol.methods import Role

PACK_WINDOW = 2
"""What the pack's half of hello says in the dialogues."""


def play(dialogue: dict[str, Any], role: Role) -> int:
    """Play the dialogue as `role`; returns how many steps it went."""
    machine = Machine(role) if role == "kernel" else Machine(role, window=PACK_WINDOW)
    steps: list[dict[str, Any]] = dialogue["steps"]
    for number, step in enumerate(steps):
        goes_on = _send(machine, step) if step["from"] == role else _receive(machine, step)
        if not goes_on:
            return number + 1
    return len(steps)


def _send(machine: Machine, step: dict[str, Any]) -> bool:
    if step.get("automatic"):
        (sent,) = _frames(machine.data_to_send())
        _assert_same_error(sent, step["frame"])
        return True
    sender = step.get("sender")
    if sender in ("crossing", "other library") or "frame" not in step:
        return False
    frame = Frame(*step["frame"])
    if sender == "must not":
        try:
            _call(machine, frame)
        except LocalMisuse:
            assert machine.data_to_send() == b""
        else:
            assert list(_frames(machine.data_to_send())) != [frame]
        return False
    _call(machine, frame)
    assert list(_frames(machine.data_to_send())) == [frame]
    return True


def _call(machine: Machine, frame: Frame) -> None:
    if frame.kind == Kind.REQUEST:
        machine.request(frame.method, frame.body, frame.meta)
    elif frame.kind == Kind.RESPONSE:
        machine.respond(frame.id, frame.body)
    elif frame.kind == Kind.ERROR:
        machine.fail(frame.id, WireError.from_body(frame.body))
    elif frame.method == "cancel":
        machine.cancel(frame.body["id"])
    else:
        machine.tell(frame.method, frame.body)


def _receive(machine: Machine, step: dict[str, Any]) -> bool:
    if step.get("eof"):
        events = machine.receive_eof()
    elif "hex" in step:
        events = machine.receive(bytes.fromhex(step["hex"]))
    else:
        events = machine.receive(encode_frame(*step["frame"]))
    receiver = step.get("receiver")
    if receiver == "ends":
        (ended,) = events
        assert isinstance(ended, SessionEnded)
        assert (None if ended.error is None else ended.error.code) == step["code"]
        assert machine.state is State.ENDED
        return False
    if receiver is None:
        assert events == [_event(Frame(*step["frame"]), step)]
    else:
        assert events == []
    if receiver != "answers":
        assert machine.data_to_send() == b""
    return True


def _event(frame: Frame, step: dict[str, Any]) -> Event:
    if frame.kind == Kind.REQUEST:
        return RequestReceived(*frame[1:])
    if frame.kind == Kind.RESPONSE:
        return ResponseReceived(*frame[1:4])
    if frame.kind == Kind.ERROR:
        return ErrorReceived(frame.id, frame.method, WireError(**step.get("reads", frame.body)))
    if frame.method == "cancel":
        return CancelReceived(frame.body["id"])
    return EventReceived(frame.method, frame.body)


def _assert_same_error(sent: Frame, scripted: list[Any]) -> None:
    assert sent[:3] == tuple(scripted[:3])
    for key in ("code", "source", "retry"):
        assert sent.body[key] == scripted[3][key]
    assert sent.body["message"]
    assert sent.body["hint"]


def _frames(data: bytes) -> Iterator[Frame]:
    return FrameReader().feed(data)
