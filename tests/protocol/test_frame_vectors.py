"""The byte vectors, through the codec and through a session."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_protocol.errors import Violation
from evalsi_protocol.frames import Frame, FrameReader, encode_frame
from evalsi_protocol.machine import Machine, SessionEnded
from tests.protocol import vectors


def name_of(vector: dict[str, Any]) -> str:
    return str(vector["name"])


@pytest.mark.spec("FRM-1", "FRM-2", "FRM-4", "FRM-5", "VAL-1", "VAL-2", "VAL-3")
@pytest.mark.parametrize("vector", vectors.frames("good"), ids=name_of)
def test_a_good_vector_gives_its_frames(vector: dict[str, Any]) -> None:
    read = [list(frame) for frame in FrameReader().feed(bytes.fromhex(vector["hex"]))]
    assert read == vector["frames"]


@pytest.mark.spec("FRM-6")
@pytest.mark.parametrize("vector", vectors.frames("good"), ids=name_of)
def test_a_good_vector_gives_its_frames_byte_by_byte(vector: dict[str, Any]) -> None:
    reader = FrameReader()
    read = [list(frame) for byte in bytes.fromhex(vector["hex"]) for frame in reader.feed(bytes([byte]))]
    assert read == vector["frames"]


@pytest.mark.parametrize("vector", vectors.frames("bad"), ids=name_of)
def test_a_bad_vector_is_a_violation_as_soon_as_its_last_byte_is_there(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["hex"])
    reader = FrameReader()
    assert list(reader.feed(data[:-1])) == []
    with pytest.raises(Violation) as caught:
        list(reader.feed(data[-1:]))
    assert caught.value.error.code == vector["code"]
    assert caught.value.error.mend


@pytest.mark.parametrize("vector", vectors.frames("bad"), ids=name_of)
@pytest.mark.parametrize("role", ["kernel", "pack"])
def test_a_bad_vector_ends_a_session_in_good_order(vector: dict[str, Any], role: Any) -> None:
    machine = Machine(role)
    (ended,) = machine.receive(bytes.fromhex(vector["hex"]))
    assert isinstance(ended, SessionEnded)
    assert ended.error is not None
    assert ended.error.code == vector["code"]
    assert machine.receive(b"more") == []
    assert machine.receive_eof() == []


@pytest.mark.parametrize("vector", vectors.frames("good"), ids=name_of)
def test_what_is_encoded_again_reads_the_same(vector: dict[str, Any]) -> None:
    for frame in vector["frames"]:
        assert list(FrameReader().feed(encode_frame(*frame))) == [Frame(*frame)]
