"""Test which values can be encoded, and decoding of errors."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.frames import FrameReader, encode_frame
from evalsi_protocol.limits import MAX_DEPTH
from evalsi_protocol.values import ENVELOPE_DEPTH, check_value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


class Number(float):
    """As numpy's float64 is."""


class Word(str):
    """As numpy's str_ is."""

    __slots__ = ()


@pytest.mark.spec("VAL-1", "VAL-7")
@given(value=JSON)
def test_what_passes_the_check_arrives_as_it_was(value: Any) -> None:
    check_value(value)
    (frame,) = FrameReader().feed(encode_frame(0, 1, "x", {"value": value}))
    assert frame.body["value"] == value


@pytest.mark.spec("VAL-3", "VAL-4", "VAL-5", "VAL-6", "VAL-7")
@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), Number("-inf"), [1.0, float("nan")], [1, Number("inf")],
        {1: "x"}, {b"x": 1}, {"a": {None: 1}}, b"bytes", [b"bytes"], {1, 2}, object(), 1j, msgpack.Timestamp(0),
    ],
)  # fmt: skip
def test_what_would_break_the_session_or_the_results_is_refused(value: Any) -> None:
    for wrapped in (value, [value], {"deep": {"list": [value]}}):
        with pytest.raises(LocalMisuse) as caught:
            check_value(wrapped)
        assert caught.value.error.code == "protocol.unencodable"


@pytest.mark.parametrize(
    "value", [Number(0.5), [Number(0.5)], (1, "a"), [(1.5, None)], {"a": True}, [], {}, [[], {}], Word("a")]
)
def test_subclasses_and_tuples_of_plain_values_pass(value: Any) -> None:
    check_value(value)


@pytest.mark.spec("VAL-6")
def test_bytes_pass_where_blobs_travel() -> None:
    check_value({"data": b"bytes", "parts": [b"a"]}, allow_bytes=True)


@pytest.mark.spec("LIM-5")
@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["lists", "maps"])
def test_a_value_that_leaves_no_room_for_the_envelope_is_too_deep(make: Any) -> None:
    value: Any = 0
    for _ in range(MAX_DEPTH - ENVELOPE_DEPTH):
        value = make(value)
    check_value(value)
    with pytest.raises(LocalMisuse, match="nested too deep"):
        check_value(make(value))


@pytest.mark.spec("ERR-2", "ERR-3")
@given(body=st.dictionaries(st.sampled_from(["code", "message", "hint", "source", "retry", "more"]), JSON))
def test_an_error_reads_whatever_its_fields_are_and_then_travels_unchanged(body: dict[str, Any]) -> None:
    error = WireError.from_body(body)
    assert WireError.from_body(error.to_body()).code == error.code
    assert {type(value) for value in error.to_body().values()} == {str}
    assert str(error) == f"{error.message} {error.hint}".strip()
