"""SQuAD's F1: the official script's numbers, and no credit for nothing."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record
from evalsi_pack_text.token_f1 import squad_tokens, token_f1


def f1(output: str, reference: object) -> float:
    return token_f1(Record(output=output, reference=reference))


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ("Lisbon Lisbon Lisbon Lisbon", "Lisbon", 0.4),
        ("rain rain in Lisbon", "rain in Lisbon in spring", 2 / 3),
        ("A", "A", 1.0),
        ("B", "A", 0.0),
        ("Oslo", ["!!!", "Oslo"], 1.0),
        ("the Lisbon.", "lisbon", 1.0),
        ("in the city of Lisbon", "Lisbon", 0.4),
        ("", "Lisbon", 0.0),
        ("Oslo", ["Bergen", "Oslo city", "north of Oslo"], 2 / 3),
        ("don't", "dont", 1.0),
        ("U.S.A.", "usa", 1.0),
    ],
)
def test_official_values(output: str, reference: object, score: float) -> None:
    assert f1(output, reference) == pytest.approx(score)


@pytest.mark.parametrize("reference", ["!!!", "", ["!!!", " "]])
def test_a_reference_of_nothing_but_punctuation_is_an_error_of_the_data(reference: object) -> None:
    with pytest.raises(ValueError, match="no reference holds a letter or a digit; correct the references"):
        f1("Oslo", reference)


@pytest.mark.parametrize("output", ["", "  ", "!!!"])
def test_an_empty_answer_gets_no_credit_from_a_reference_that_normalises_to_nothing(output: str) -> None:
    assert f1(output, "A") == 0.0


def test_other_scripts_are_split_at_white_space_and_keep_their_punctuation() -> None:
    assert f1("नदी किनारमा", "नदी किनारमा बजार") == pytest.approx(0.8)
    assert squad_tokens("“the” — Gate") == ["“", "”", "—", "gate"]


def official_f1(output: str, reference: str) -> float:
    """The formula of the SQuAD 2.0 evaluation script, from its description: normalise, split, intersect multisets."""

    def tokens(text: str) -> list[str]:
        bare = "".join(character for character in text.lower() if character not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", bare).split()

    found, expected = tokens(output), tokens(reference)
    if not found or not expected:
        return float(found == expected)
    shared = sum((Counter(found) & Counter(expected)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(found), shared / len(expected)
    return 2 * precision * recall / (precision + recall)


WORDS = ["the", "The", "a", "an", "Lisbon", "lisbon.", "rain!", "in,", "-in-", "“the”", "é", "२", "theory"]
words = st.lists(st.sampled_from(WORDS), min_size=1)


@given(words.map(" ".join), words.map(" ".join))
def test_any_pair_scores_as_the_official_formula_says(output: str, reference: str) -> None:
    assert f1(output, reference) == pytest.approx(official_f1(output, reference))


@given(words.map(" ".join), words.map(" ".join))
def test_the_score_is_symmetric_and_within_its_range(left: str, right: str) -> None:
    assert 0.0 <= f1(left, right) <= 1.0
    assert f1(left, right) == f1(right, left)


@given(st.text(), st.text())
def test_every_answer_that_says_something_scores_1_against_itself(before: str, after: str) -> None:
    text = f"{before}gate{after}"
    assert f1(text, text) == 1.0
