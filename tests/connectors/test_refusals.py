"""What a provider says when it refuses, in the forms of many servers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_connectors.refusal import Refusal, read_refusal


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (
            {"error": {"message": "No.", "type": "invalid", "param": "seed", "code": "unsupported_parameter"}},
            Refusal("No.", "seed", "unsupported_parameter invalid"),
        ),
        ({"error": {"message": "No.", "code": 429}}, Refusal("No.", "", "429")),
        ({"error": "No."}, Refusal("No.")),
        ({"object": "error", "message": "No.", "code": 400}, Refusal("No.", "", "400")),
        ({"type": "error", "error": {"type": "busy", "message": "No."}}, Refusal("No.", "", "busy")),
        ([{"error": {"message": "No.", "status": "INVALID"}}], Refusal("No.")),
        ({"detail": "No."}, Refusal("No.")),
        (
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]},
            Refusal("seed: Extra inputs are not permitted", "", "extra_forbidden"),
        ),
        ({"detail": {"message": "No."}}, Refusal("No.")),
        ({"error": {"details": {"error_code": "spend_limit"}}}, Refusal("", "", "spend_limit")),
        ({}, Refusal("")),
        ({"error": None}, Refusal("")),
        ({"error": {"message": None, "code": True}}, Refusal("")),
        (7, Refusal("7")),
    ],
)  # fmt: skip
def test_the_words_the_parameter_and_the_code_are_found(body: object, refusal: Refusal) -> None:
    assert read_refusal(json.dumps(body).encode()) == refusal


def test_what_is_no_json_is_taken_as_words() -> None:
    assert read_refusal(b" upstream connect error \n") == Refusal("upstream connect error")
    assert read_refusal(b"") == Refusal("")


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("'seed' is not supported", True),
        ("seed: not permitted", True),
        ("The seed.", True),
        ("generation.seed is unknown", True),
        ("seedling", False),
        ("seed_everything", False),
        ("my-seed", False),
        ("seed.value is off", False),
    ],
)
def test_a_parameter_is_named_by_its_whole_name(message: str, names: bool) -> None:
    assert Refusal(message).names("seed") == names


def test_a_parameter_that_is_told_apart_is_the_one_that_counts() -> None:
    assert Refusal("seed and temperature are off", "seed").names("seed")
    assert not Refusal("seed and temperature are off", "seed").names("temperature")
    assert Refusal("", "response_format.type").names("response_format")
    assert Refusal("", "messages[0].role").names("messages")


@given(st.binary(max_size=200))
def test_no_body_however_wrong_raises(content: bytes) -> None:
    assert isinstance(read_refusal(content), Refusal)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["error", "message", "detail", "loc", "msg", "code", "details"]), inner)
        ),
        max_leaves=12,
    )
)
def test_no_json_however_wrong_raises(value: object) -> None:
    assert isinstance(read_refusal(json.dumps(value).encode()), Refusal)
