"""Test the byte vectors with the codec and with a session."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_protocol.errors import Violation
from evalsi_protocol.frames import Frame, FrameReader, decode_payload, encode_frame, pack, pack_array, split_array
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
    assert caught.value.error.hint


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


@pytest.mark.spec("VAL-5")
@pytest.mark.parametrize("seconds", [1, 2**33, 2**40])
@pytest.mark.parametrize("look_alikes", [0, 1, 62, 63, 64, 65, 200])
def test_a_timestamp_is_found_behind_any_number_of_bytes_that_look_like_its_end(look_alikes: int, seconds: int) -> None:
    body = {"e": [[-1] * look_alikes, msgpack.Timestamp(seconds)]}
    with pytest.raises(Violation):
        decode_payload(msgpack.packb([3, 0, "item", body, {}]))
    fine = {"e": [[-1] * look_alikes, 4, -1]}
    assert decode_payload(msgpack.packb([3, 0, "item", fine, {}])).body == fine


@given(st.lists(st.dictionaries(st.text(max_size=3), st.integers(-5, 2**40) | st.text(max_size=40), max_size=4)))
def test_an_array_is_split_into_the_elements_that_it_was_packed_of(elements: list[Any]) -> None:
    packed = [pack(element) for element in elements]
    assert split_array(pack_array(packed, len(packed))) == packed
    assert split_array(pack(elements)) == packed
