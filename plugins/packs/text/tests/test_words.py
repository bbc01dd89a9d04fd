"""What counts as a word, script by script."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The old-gate, at 5.30!", ["the", "old", "gate", "at", "5", "30"]),
        ("under_score don't", ["under", "score", "don", "t"]),
        ("नदी किनारमा", ["नदी", "किनारमा"]),
        ("ที่นี่ สวัสดี", ["ที่นี่", "สวัสดี"]),
        ("كِتَابٌ، جديد؟", ["كِتَابٌ", "جديد"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("क्\u200dष", ["क्ष"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("答案是42。", ["答", "案", "是", "42"]),
        ("東京へ行く", ["東", "京", "へ", "行", "く"]),
        ("díl DŮL", ["díl", "důl"]),
        ("Straße", ["strasse"]),
        ("one\u200btwo", ["one", "two"]),
        ("👍 — …", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_marks_and_digits(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_the_typing_of_accents_makes_no_difference() -> None:
    assert words("cafe\u0301") == words("CAFÉ")


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_gives_the_words_of_the_reference_implementation(text: str) -> None:
    # rouge-score 0.1.2, tokenize.py, without stemming: lower case, everything but a-z and 0-9 is a blank.
    assert words(text) == re.sub("[^a-z0-9]+", " ", text.lower()).split()


@given(st.text(), st.text())
def test_a_blank_between_two_texts_keeps_their_words_apart(left: str, right: str) -> None:
    assert words(f"{left} . {right}") == words(left) + words(right)
