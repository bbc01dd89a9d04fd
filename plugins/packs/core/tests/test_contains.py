"""A text within the output: of the params, or of the reference; never an empty one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import ParamError, Record, Skip
from evalsi_pack_core.matching import Contains, ExactMatch


@pytest.mark.parametrize("output", ["", "   \n"])
def test_an_empty_output_contains_no_reference(output: str) -> None:
    assert not Contains().score(Record(output=output, reference="Lisbon"))


@pytest.mark.parametrize("reference", ["", "  \n", ["", " "]])
def test_an_empty_reference_is_an_error_of_the_data(reference: object) -> None:
    with pytest.raises(ValueError, match="every reference of this record is empty"):
        Contains().score(Record(output="a long answer", reference=reference))


def test_an_empty_reference_among_others_is_left_out() -> None:
    assert not Contains().score(Record(output="a long answer", reference=["", "Lisbon"]))
    assert Contains().score(Record(output="It is lisbon.", reference=["", "Lisbon"]))


def test_an_empty_substring_is_refused_before_any_record() -> None:
    with pytest.raises(ParamError, match="substring: it is empty"):
        Contains(substring="")


def test_a_substring_needs_no_reference_and_without_one_a_record_is_skipped() -> None:
    assert Contains(substring="gate").score(Record(output="the old Gate"))
    with pytest.raises(Skip, match="record has no reference"):
        Contains().score(Record(output="the old gate"))


@pytest.mark.parametrize("blank", [" ", "\n\n", "\u00a0"])
def test_a_blank_needle_is_refused_as_an_empty_one(blank: str) -> None:
    with pytest.raises(ParamError, match="use regex-match for white space"):
        Contains(substring=blank)


def test_case_counts_on_demand() -> None:
    record = Record(output="Die STRASSE", reference="straße")
    assert Contains().score(record)
    assert not Contains(ignore_case=False).score(record)


def test_a_letter_is_found_however_its_accent_was_typed() -> None:
    assert Contains(ignore_case=False, substring="café").score(Record(output="un cafe\u0301"))
    assert Contains(substring="CAFÉ").score(Record(output="un cafe\u0301"))


@given(st.text(), st.text(min_size=1).filter(str.strip), st.text())
def test_what_was_put_into_a_text_is_found_in_it(before: str, needle: str, after: str) -> None:
    blank = " "  # A mark that composes with its neighbour would make another letter of it.
    output = f"{before}{blank}{needle}{blank}{after}"
    assert Contains(substring=f"{blank}{needle}{blank}").score(Record(output=output))


SAME = [
    ("It is 10\u00a0km.", "10 km"),
    ("It is 10\u202fkm.", "10 km"),
    ("a\r\nb", "a\nb"),
    ("New  York", "New York"),
    ("１２３", "123"),
    ("I love New\nYork.", "New York"),
    ("Ｙｅｓ！", "yes!"),
    ("cafe\u0301", "café"),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
    ("straße", "STRASSE"),
    ("ﬁn", "fin"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_e3_what_equals_a_text_contains_it(left: str, right: str) -> None:
    for output, reference in ((left, right), (right, left)):
        if ExactMatch().score(Record(output=output, reference=reference)):
            assert Contains().score(Record(output=output, reference=reference))
            assert Contains(substring=reference).score(Record(output=output))
    assert Contains().score(Record(output=left, reference=right))


def test_e3_case_is_kept_on_demand_and_the_rest_is_levelled() -> None:
    assert Contains(ignore_case=False).score(Record(output="It is 10\u00a0Km.", reference="10 Km"))
    assert not Contains(ignore_case=False).score(Record(output="It is 10\u00a0km.", reference="10 Km"))


def test_e3_a_space_at_the_edge_of_a_substring_counts() -> None:
    assert Contains(substring="km ").score(Record(output="10 km away"))
    assert not Contains(substring="km ").score(Record(output="10 kmh"))


@given(st.text(max_size=12), st.text(max_size=12))
def test_e3_exact_match_implies_contains_for_any_text(left: str, right: str) -> None:
    record = Record(output=left, reference=right)
    if right.strip() and ExactMatch().score(record):
        assert Contains().score(record)
