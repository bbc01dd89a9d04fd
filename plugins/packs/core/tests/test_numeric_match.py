"""The last number of the output against the last number of the reference; E5 and T5 among its cases."""

from time import process_time

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
    assert not passes("0.0000000005", "0")
    assert passes("0.0000000005", "0", abs_tol=1e-9)
    assert not passes("0.00000001", "0", abs_tol=1e-9)
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


# -- E5: exact values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "reference", "passed"),
    [
        ("about 6.02e23", "602000000000000000000000", True),
        ("6.02 × 10^23", "602000000000000000000000", True),
        ("9007199254740993.0", "9007199254740992", False),
        ("9007199254740993.0", "9007199254740993", True),
        ("0.1", "0.10000000000000001", False),
        ("0.30", "0.3", True),
        ("1,234.50", "1234.5", True),
        ("1/3", "2/6", True),
        ("1/3", "0.3333333333333333", False),
        ("3/4", "0.75", True),
        ("-0", "0", True),
        ("1e-30", "2e-30", False),
    ],
)
def test_e5_without_tolerance_values_are_compared_exactly(output: str, reference: str, passed: bool) -> None:
    assert passes(output, reference, rel_tol=0, abs_tol=0) is passed
    assert passes(reference, output, rel_tol=0, abs_tol=0) is passed


@pytest.mark.parametrize(
    ("output", "reference"), [("6.626e-34", "1.6e-19"), ("1e-10", "9e-10"), ("0", "1e-12"), ("1e-300", "2e-300")]
)
def test_e5_small_numbers_are_told_apart_by_default(output: str, reference: str) -> None:
    assert not passes(output, reference)
    assert not passes(reference, output)


def test_e5_a_tolerance_is_the_decimal_that_is_written() -> None:
    assert passes("1.000001", "1", rel_tol=0, abs_tol=1e-6)
    assert not passes("1.0000010000000001", "1", rel_tol=0, abs_tol=1e-6)
    assert passes("0.3", "0.2", rel_tol=0, abs_tol=0.1)


@pytest.mark.parametrize(
    "written", ["35%", r"35\%", "35 %", r"$35\%$", "35 percent", "35 per cent", r"35\,\%", "３５％"]
)
def test_e5_percent_is_a_hundredth_or_a_unit(written: str) -> None:
    for other, passed in (("0.35", True), ("35", True), ("35%", True), ("0.35%", False), ("3500", False)):
        assert passes(written, other) is passed, other
        assert passes(other, written) is passed, other


def test_e5_a_set_is_not_one_number() -> None:
    for written in (r"\{1,3\}", r"$\{3,1\}$", r"\{1,234\}"):
        with pytest.raises(Skip, match="cannot be read"):
            passes("1.3", written)
        assert not passes(written, "1.3")


@pytest.mark.parametrize("written", ["1e-400", "1e400", "0." + "0" * 2000 + "1", "1e999999999", "1e-999999999"])
def test_e5_what_is_out_of_range_cannot_be_read(written: str) -> None:
    with pytest.raises(Skip, match="cannot be read"):
        passes("0", written)
    assert passes("0e-400", "0")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**9), max_value=10**9))
def test_e5_a_last_digit_more_is_another_number(number: object) -> None:
    assert passes(f"{number:f}", f"{number:f}0", rel_tol=0, abs_tol=0)
    assert not passes(f"{number:f}", f"{number:f}1", rel_tol=0, abs_tol=0)


# -- T5: magnitudes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("$3 bn", "3000000000"),
        ("$3bn", "3000000000"),
        ("$1.5 M", "1500000"),
        ("€1,5 Mio.", "1500000"),
        ("3 Mrd. Euro", "3000000000"),
        ("5 hundred", "500"),
        ("5 hundred thousand", "500000"),
        ("1 lakh", "100000"),
        ("1.5 lakhs of rupees", "150000"),
        ("2 crore", "20000000"),
        ("Rs 2 cr", "20000000"),
        ("₹2 करोड़", "20000000"),
        ("5 млн рублей", "5000000"),
        ("3 Millionen", "3000000"),
        ("3 millones", "3000000"),
        ("2 Million.", "2000000"),
        ("between 2 million and 3 million", "3000000"),
        ("1,500 thousand", "1500000"),
        ("3/4 million", "750000"),
    ],
)
def test_t5_words_of_magnitude_are_read(written: str, number: str) -> None:
    assert passes(written, number, rel_tol=0)
    assert passes(number, written, rel_tol=0)


@pytest.mark.parametrize(
    "written", ["1.5 M", "5 K", "7 B", "1 crore 20 lakh", "5 thousand 300", "3 hundred and 5", "3万"]
)
def test_t5_what_could_be_two_numbers_cannot_be_read(written: str) -> None:
    for number in ("1.5", "5", "7", "20", "300", "3"):
        assert not passes(written, number)
    with pytest.raises(Skip, match="cannot be read"):
        passes("1", written)


@pytest.mark.parametrize(
    ("written", "number"), [("it is 5 m long", "5"), ("42 B)", "42"), ("12 km", "12"), ("3 Bars", "3")]
)
def test_t5_units_and_labels_are_no_magnitudes(written: str, number: str) -> None:
    assert passes(written, number)


@pytest.mark.parametrize(
    "part", ["5 ", "5,", "5 million ", "5 hundred ", "$5 M ", "5 %", "5  ", "\\{1,", "5\x01", "5 m"]
)
def test_t5_no_text_takes_more_than_linear_time(part: str) -> None:
    began = process_time()
    passes(part * 30_000, "7")
    assert process_time() - began < 3
