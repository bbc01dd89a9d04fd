"""The last number of the output against the last number of the reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record, Score, Skip
from evalsi_pack_core.numeric_match import NumericMatch


def passes(output: object, reference: object, **params: float) -> bool:
    result = NumericMatch(**params).score(Record(output=output, reference=reference))
    return bool(result.passed) if isinstance(result, Score) else result


@pytest.mark.parametrize(
    ("output", "reference", "passed"),
    [
        ("After the second transfer the tank holds 618.", "18", False),
        ("Answer: 18", "18", True),
        ("The total is 18.0 litres", "18", True),
        ("So the invoice comes to $1,284.00.", "1284", True),
        ("So the invoice comes to $1,284.00.", "1284.5", False),
        ("5 at first, finally -5", "5", False),
        ("That makes (37)!", "37", True),
        ("Result: [37]", "37", True),
        ("The crew planted 96 saplings, which pleased everyone, truly.", "96", True),
        ("Serial 37abc", "37", False),
        ("Nothing but commas,, here", "0", False),
    ],
)
def test_reported_faults_of_other_tools_are_right_here(output: str, reference: str, passed: bool) -> None:
    assert passes(output, reference) is passed


def test_an_output_without_a_number_fails_and_says_so() -> None:
    result = NumericMatch().score(Record(output="Nothing but commas,, here", reference="0"))
    assert result == Score(passed=False, explanation="The output has no number.")


@pytest.mark.parametrize(
    ("output", "reference", "passed"),
    [
        ("It takes 2 3/4 hours", "2 1/2", False),
        ("It takes 2 1/2 hours", "2.5", True),
        ("In 8 hours she is paid $60/hour", "8", False),
        ("In 8 hours she is paid $60/hour", "60", True),
        ("Of the 12 candles, ½ are lit", "12", False),
        ("There were 20 of them, about 1.5k", "20", False),
        ("There were 20 of them, about 1.5k", "1,500", True),
        ("He has 3 left at 10:30", "3", False),
        ("I said 12, no wait...18", "18", True),
        ("The error is ±5", "5", False),
        ("It is 1 000 000 in all", "5 000", False),
        ("It is 5 000 in all", "5,000", True),
        ("Use 8 of room E12", "8", True),
        # A line's end as JSON within a text escapes it.
        ("8 of them\\n42", "8", False),
        ('{"sum":"42\\n"}', "42", True),
    ],
)
def test_an_earlier_number_never_stands_in_for_the_last(output: str, reference: str, passed: bool) -> None:
    assert passes(output, reference) is passed


def test_an_output_whose_last_number_cannot_be_read_fails_and_says_which() -> None:
    result = NumericMatch().score(Record(output="He has 3 left at 10:30", reference="3"))
    assert result == Score(passed=False, explanation="The last number of the output cannot be read: 10:30.")


def test_a_reference_whose_last_number_cannot_be_read_skips_the_record_and_says_which() -> None:
    with pytest.raises(Skip, match="the last number of the reference cannot be read: 10:30"):
        NumericMatch().score(Record(output="3", reference="3 left at 10:30"))
    assert passes("3", ["10:30", "3"])


def test_a_reference_without_a_number_skips_the_record() -> None:
    with pytest.raises(Skip, match="reference has no number"):
        NumericMatch().score(Record(output="5", reference="Lisbon"))


def test_any_reference_will_do_and_one_without_a_number_is_left_out() -> None:
    assert passes("5", ["Lisbon", "4", "five, 5"])
    assert not passes("6", ["Lisbon", "4", "5"])


def test_tolerances_are_relative_to_the_larger_and_absolute_near_zero() -> None:
    assert passes("1000000.5", "1000000")
    assert not passes("1000002", "1000000")
    assert passes("1000002", "1000000", rel_tol=1e-5)
    assert passes("0.0000000005", "0")
    assert not passes("0.00000001", "0")
    assert passes("0.05", "0", abs_tol=0.1)


def test_without_tolerance_whole_numbers_beyond_a_float_are_told_apart() -> None:
    assert passes("9007199254740993", "9007199254740993", rel_tol=0, abs_tol=0)
    assert not passes("9007199254740993", "9007199254740992", rel_tol=0, abs_tol=0)


@pytest.mark.parametrize(
    ("content", "number"),
    [({"json": 42}, "42"), ({"json": [1, 234]}, "234"), ({"json": {"b": 7, "a": "x"}}, "7"), ({"json": "= 42"}, "42")],
)
def test_json_content_is_read_number_by_number(content: object, number: str) -> None:
    assert passes(content, number)


@pytest.mark.parametrize(
    ("content", "number"),
    [
        ({"json": {"steps": "8 of them\n42"}}, "42"),
        ({"json": ['say "8"', "\t42"]}, "42"),
        ({"json": {"answer": "1\\,234"}}, "1234"),
        ({"json": {"answer": "\\boxed{\\frac{3}{4}}"}}, "0.75"),
        ({"json": [5, "± 3", 42]}, "42"),
        ({"json": {"2024": "x", "a": 5, "in 2025": None, "b 7": True}}, "5"),
        ({"json": [3, "x 10^3"]}, "1000"),
    ],
)
def test_texts_within_json_are_read_as_they_are_and_names_of_fields_are_not(content: object, number: str) -> None:
    assert passes(content, number)
    assert not passes(content, "8")


def test_json_truth_is_no_number() -> None:
    assert not passes({"json": True}, "1")


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_matching_is_symmetric(left: float, right: float) -> None:
    assert passes(repr(left), repr(right)) == passes(repr(right), repr(left))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_matches_itself_without_tolerance(number: float) -> None:
    assert passes(repr(number), repr(number), rel_tol=0, abs_tol=0)
