"""Sentences by rules, in many scripts; the same text always gives the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_rag.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ferry leaves at seven. Dogs ride free.", ["The ferry leaves at seven.", "Dogs ride free."]),
        (
            "Dr. Adeyemi paid $3.50. She left at 7 p.m. on Monday.",
            ["Dr. Adeyemi paid $3.50.", "She left at 7 p.m. on Monday."],
        ),
        ("Is it so? Yes! It is…", ["Is it so?", "Yes!", "It is…"]),
        ("首都是北京。它很大！真的吗？", ["首都是北京。", "它很大！", "真的吗？"]),
        ("フェリーは七時に出ます。犬は無料です。", ["フェリーは七時に出ます。", "犬は無料です。"]),
        ("नौका सात बजे छूट्छ। कुकुर निःशुल्क जान्छ।", ["नौका सात बजे छूट्छ।", "कुकुर निःशुल्क जान्छ।"]),
        (
            "تغادر العبارة في السابعة. هل الكلاب مجانية؟ نعم.",
            ["تغادر العبارة في السابعة.", "هل الكلاب مجانية؟", "نعم."],
        ),
        ("Նավը մեկնում է յոթին։ Շները ձրի են։", ["Նավը մեկնում է յոթին։", "Շները ձրի են։"]),
        ("เรือข้ามฟากออกเวลาเจ็ดโมง", ["เรือข้ามฟากออกเวลาเจ็ดโมง"]),
        ("Kathmandu", ["Kathmandu"]),
        ("A heading\n\nA sentence below it.", ["A heading", "A sentence below it."]),
        ("One line\nof a sentence. Two.", ["One line\nof a sentence.", "Two."]),
        ("- dogs: free\n- cats: free", ["- dogs: free", "- cats: free"]),
    ],
)
def test_sentences_of_many_scripts(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["", " ", "…", "!!! ???", "—\n\n* * *", "\u200b"])
def test_what_holds_no_letter_and_no_digit_is_no_sentence(text: str) -> None:
    assert sentences(text) == []


@given(st.text(alphabet='aéश京 .?!。।\n"([1])'))
def test_nothing_that_is_said_is_lost_and_nothing_is_said_twice(text: str) -> None:
    kept = [character for sentence in sentences(text) for character in sentence if character.isalnum()]
    assert kept == [character for character in text if character.isalnum()]


@given(st.text(alphabet='aé👍京 .?!。।"([1])', min_size=1))
def test_spans_follow_one_another_from_the_first_character_to_the_last(paragraph: str) -> None:
    spans = sentence_spans(paragraph)
    assert [spans[0][0], *(end for _, end in spans)] == [*(start for start, _ in spans), len(paragraph)]


def test_a_long_text_is_split_as_its_parts_are() -> None:
    # The splitter takes long texts in pieces.
    paragraph = "The ferry leaves at seven. Dogs ride free."
    assert sentences("\n\n".join([paragraph] * 3000)) == sentences(paragraph) * 3000
    assert len(sentences(" ".join([paragraph] * 3000))) == 6000
