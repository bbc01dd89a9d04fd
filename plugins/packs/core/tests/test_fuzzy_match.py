"""Similarity from 0 to 1; nothing said is similar to nothing."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record
from evalsi_pack_core.matching import FuzzyMatch


def similarity(output: str, reference: object, **params: bool) -> float:
    return FuzzyMatch(**params).score(Record(output=output, reference=reference))


def test_it_is_one_less_the_share_of_insertions_and_deletions() -> None:
    # k, e go; s, i, g come: 5 of 6 + 7 letters.
    assert similarity("kitten", "sitting") == pytest.approx(1 - 5 / 13)
    assert similarity("abc", "abd") == pytest.approx(1 - 2 / 6)


@pytest.mark.parametrize("output", ["", "   \n"])
def test_an_empty_output_scores_0(output: str) -> None:
    assert similarity(output, "Lisbon") == 0.0
    assert similarity(output, "a b c") == 0.0


@pytest.mark.parametrize("reference", ["", " \n", ["", ""]])
def test_an_empty_reference_is_an_error_of_the_data(reference: object) -> None:
    with pytest.raises(ValueError, match="every reference of this record is empty"):
        similarity("a long answer", reference)


def test_the_best_reference_counts_and_an_empty_one_does_not() -> None:
    assert similarity("oslo", ["Lisbon", "", "Oslo"]) == 1.0


def test_case_and_the_typing_of_accents_are_no_difference() -> None:
    assert similarity("CAFE\u0301", "café") == 1.0
    assert similarity("CAFE", "cafe", ignore_case=False) == 0.0
    assert similarity("cafe\u0301", "café", ignore_case=False) == 1.0


filled = st.text(min_size=1).filter(lambda text: text.strip() != "")


@given(filled)
def test_every_text_is_wholly_similar_to_itself(text: str) -> None:
    assert similarity(text, text) == 1.0


@given(filled, filled)
def test_similarity_is_symmetric_and_within_its_range(left: str, right: str) -> None:
    forth, back = similarity(left, right), similarity(right, left)
    assert 0.0 <= forth <= 1.0
    assert forth == back


def test_s7_texts_that_would_take_too_long_are_an_error_of_their_record() -> None:
    began = process_time()
    with pytest.raises(ValueError, match="too long to compare"):
        FuzzyMatch().score(Record(output="ab" * 600_000, reference="ba" * 300_000))
    with pytest.raises(ValueError, match="too long to compare"):
        FuzzyMatch().score(Record(output="ab" * 60_000, reference=["ba" * 30_000, "bb" * 30_000]))
    assert process_time() - began < 3


def test_s7_equal_texts_of_any_length_are_equal() -> None:
    assert FuzzyMatch().score(Record(output="ab" * 600_000, reference=["x", "AB" * 600_000])) == 1.0
