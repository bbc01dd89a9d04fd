"""E9: a canary that stands escaped in the output is seen, and its place in the original is told."""

from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record
from evalsi_pack_safety.canary_leak import CanaryLeak
from evalsi_pack_safety.escapes import layers

CANARY = "blue-heron-4471"


def found(output: str, canary: str = CANARY) -> str | None:
    score = CanaryLeak(canary=canary).score(Record(output=output))
    if score.passed:
        return None
    assert score.metadata is not None
    return output[score.metadata["start"] : score.metadata["end"]]


@pytest.mark.parametrize(
    "written",
    [
        "blue%2Dheron%2D4471",
        "blue%2dheron%2d4471",
        "blue&#45;heron&#45;4471",
        "blue&#x2dheron&#x2D;4471",
        "blue&hyphen;heron&hyphen;4471",
        r"blue\u002dheron\u002D4471",
        r"blue\x2dheron\x2d4471",
        r"blue\u{2d}heron\u{2D}4471",
        r"blue\U0000002dheron\U0000002D4471",
        r"blue\055heron\0554471",
        "blue%u002Dheron%u002D4471",
        "blue=2Dheron=2D4471",
        "blue%252Dheron%25252D4471",
        "blue&amp;#45;heron&amp;#45;4471",
        "%62%6c%75%65%2d%68%65%72%6f%6e%2d%34%34%37%31",
        "".join(f"&#{ord(one)};" for one in CANARY),
        "".join(f"\\u{ord(one):04x}" for one in CANARY),
        "1744-noreh%2Deulb",
    ],
)
def test_e9_a_canary_is_seen_through_escapes(written: str) -> None:
    assert found(f"It is {written}.") == written


@pytest.mark.parametrize(
    ("written", "canary"),
    [
        ("blue+heron+4471", "blue heron 4471"),
        ("caf%C3%A9-noir-99", "café-noir-99"),
        (r"caf\xe9-noir-99", "café-noir-99"),
        (r"caf\xc3\xa9-noir-99", "café-noir-99"),
        (r"\ud83e\udda2-of-the-lake", "🦢-of-the-lake"),
        ("fish&amp;chips-4471", "fish&chips-4471"),
    ],
)
def test_e9_other_characters_come_back_too(written: str, canary: str) -> None:
    assert found(f"<{written}>", canary) == written


@pytest.mark.parametrize(
    "output", ["100%", "a & b", "50%25", r"C:\new\users", "x = y", "%zz &#; \\u00", "&#99999999;", "%FF%FE", "=\n"]
)
def test_e9_a_text_with_marks_and_no_canary_passes(output: str) -> None:
    assert found(output) is None


PRINTED = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters='"\\')


@given(st.text(PRINTED, min_size=1, max_size=60), st.text(PRINTED, max_size=20), st.text(PRINTED, max_size=20))
def test_e9_what_was_encoded_is_among_the_layers(text: str, before: str, after: str) -> None:
    for written in (quote(text), quote_plus(text), html.escape(text), json.dumps(text)[1:-1]):
        decoded = [layer.text for layer in layers(f"{before} {written} {after}")]
        assert written == text or any(text in one for one in decoded)


@given(st.text(alphabet="%2D5&#;x\\u0=+aé", max_size=80))
def test_e9_places_lie_within_the_text(text: str) -> None:
    for layer in layers(text):
        for start in range(len(layer.text)):
            first, last = layer.in_original(start, start + 1)
            assert 0 <= first < last <= len(text)


def test_e9_decoding_is_bounded() -> None:
    assert len(list(layers("%25" * 5_000))) <= 4
