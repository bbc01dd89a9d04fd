"""How the last number of a text is read: each rule of the docstring with what people and models write."""

import re
from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_core.numbers import UnreadableNumber
from evalsi_pack_core.numbers import last_number as exact_number


def last_number(text: str) -> float | None:
    """Return the last number, as near as a float comes; a whole number as it is."""
    number = exact_number(text)
    if number is None or (isinstance(number, int) and str(abs(number)) in text):
        return number
    return float(number)


WHOLE_TOKENS = {
    "After the second transfer the tank holds 618.": 618,
    "The total is 18.0 litres": 18,
    "5 at first, finally -5": -5,
    "The crew planted 96 saplings, which pleased everyone, truly.": 96,
    "it is 42 USD": 42,
    "page 12 of 20": 20,
    "January 5, 2024": 2024,
    "x=42": 42,
    "x==42": 42,
    "a=5,b=7": 7,
    "= 42": 42,
    "Answer:42": 42,
    "**Answer:**42": 42,
    '{"answer":42}': 42,
    '{"a":1,"b":42}': 42,
    "007": 7,
    "-.5": -0.5,
    ".5": 0.5,
    "+42": 42,
    "-0": 0,
    "1e3": 1000,
    "2.5E-3": 0.0025,
}
NO_NUMBER = [
    "",
    "Nothing but commas,, here",
    "nan",
    "inf",
    "Infinity",
]
NAMES = [
    "37abc",
    "abc37",
    "3rd",
    "v2",
    "v1.2.3",
    "42-year-old",
    "COVID-19",
    "0x1F",
    "https://example.org/?id=42",
    "café42",
    "cafe\u030142",
    "E12",
    "e4",
    "x^{2}",
    "x10^3",
    "x<sup>2</sup>",
    "\\alpha_1",
    "\\boxed{x2}",
]
UNREADABLE = [
    "1.2.3",
    "192.168.1.1",
    "2024-01-05",
    "01/05/2024",
    "3/4/2024",
    "01/05",
    "12:30",
    "10:30am",
    "<b>10:30</b>",
    "3:1",
    "10-20",
    "10–20",
    "10-3/4",
    "2-1/2",
    "--42",
    "±5",
    "42 ± 5",
    "42 +/- 5",
    "$\\pm 14$",
    "5²",
    "2^{10}",
    "210^3",
    "5<sup>2</sup>",
    "\\sqrt{2}",
    "5\\sqrt{3}",
    "\\frac{\\sqrt{3}}{2}",
    "(3+5)/2",
    "5/0",
    "5m",
    "£5m",
    "5x",
    "5pm",
    "1990s",
    "1.5e3k",
    "1.2 e-3",
    "\\cfrac{\\sqrt{3}}{2}",
    "3万",
    "3만",
    "1e999",
    "-1e999",
    "9" * 400,
]
FRACTIONS = {
    "3/4": 0.75,
    "-3/4": -0.75,
    "x=3/4": 0.75,
    "3 / 4": 0.75,
    "12 / 4 = 3": 3,
    "It takes 2 3/4 hours": 2.75,
    "-2 1/2": -2.5,
    "1,000 1/2": 1000.5,
    "Step 2\n3/4": 0.75,
    "½": 0.5,
    "3½": 3.5,
    "2 ½": 2.5,
    "1⁄2": 0.5,
    "\\boxed{\\frac{3}{4}}": 0.75,
    "-\\dfrac{3}{4}": -0.75,
    "3 of \\cfrac{3}{4}": 0.75,
    "\\frac34": 0.75,
    "2\\frac{1}{2}": 2.5,
}
LARGE = {
    "about 1.5k": 1500,
    "2M": 2e6,
    "$1.5M.": 1.5e6,
    "3bn": 3e9,
    "3 thousand": 3000,
    "$2 million": 2e6,
    "2.5 Million": 2.5e6,
    "1,200 million dollars": 1.2e9,
    "4 billion": 4e9,
    "1 trillion": 1e12,
}
UNITS = {
    "$60/hour": 60,
    "$60k/year": 60_000,
    "60km/h": 60,
    "9.8m/s²": 9.8,
    "10km": 10,
    "5kg.": 5,
    "5cm²": 5,
    "21°C": 21,
    "90^\\circ": 90,
    "\\boxed{5\\text{ cm}}": 5,
    "5\\,cm": 5,
}
SURROUNDED = {
    "That makes (37)!": 37,
    "Result: [37]": 37,
    "**42**": 42,
    "__42__": 42,
    "`42`": 42,
    '"42"': 42,
    "{42}": 42,
    "|42|": 42,
    "(approx. 42)": 42,
    "~42": 42,
    "≈42": 42,
    "42%.": 42,
    "42...": 42,
    "42).": 42,
    "42;": 42,
    "42?!": 42,
    "is—42.": 42,
    "wait...18": 18,
    "wait…18": 18,
    "12-": 12,
    "100+": 100,
    "x = - 5": -5,
    "#### 42": 42,
    "####42": 42,
    "<answer>42</answer>": 42,
    "<b>42</b>.": 42,
    "$42$": 42,
    "$$42$$": 42,
    "\\(42\\)": 42,
    "\\[42\\]": 42,
    "\\boxed{42}": 42,
    "$\\boxed{-42}$.": -42,
    "\\boxed{1,234}": 1234,
    "\\boxed{42\\%}": 42,
    "\\boxed{\\text{42}}": 42,
    "\\boxed{5 \\text{ cm}}": 5,
    "「42」": 42,
    "（42）": 42,
    "✅42": 42,
    "\u200f42\u200f": 42,
    "5\ufe0f\u20e3": 5,
}
THOUSANDS = {
    "1,234": 1234,
    "1,234,567.89": 1_234_567.89,
    "1.234.567": 1_234_567,
    "1.234.567,89": 1_234_567.89,
    "1'234.50": 1234.5,
    "1’234’567": 1_234_567,
    "1_000_000": 1_000_000,
    "1\u00a0234\u00a0567": 1_234_567,
    "1\u202f234,56": 1234.56,
    "1\u2009234": 1234,
    "12,34,567": 1_234_567,
    "₹1,00,000": 100_000,
    "1 234": 234,
    "10{,}000": 10_000,
    "1,\\!000": 1000,
    "1\\,234": 1234,
}
DECIMAL_COMMAS = {
    "3,14": 3.14,
    "0,5": 0.5,
    "0,123": 0.123,
    "1,2345": 1.2345,
    "12345,678": 12345.678,
    "1.234,5": 1234.5,
    "1.234": 1.234,
    "1,234.567": 1234.567,
}
AMBIGUOUS = ["1,23,45", "12,345,67", "1,234e5", "1,2,3", "1.23.456", ",5"]
CURRENCY = {
    "So the invoice comes to $1,284.00.": 1284,
    "US$5": 5,
    "HK$5": 5,
    "R$ 1.234,56": 1234.56,
    "€5": 5,
    "5€": 5,
    "1,284.00€": 1284,
    "-$5": -5,
    "$-5": -5,
    "€-5": -5,
    "USD5": 5,
    "5USD": 5,
    "Rs.500": 500,
    "50%": 50,
    "50 %": 50,
    "٪٥٠": 50,
}
SCRIPTS = {
    "٤٢": 42,
    "۴۲": 42,
    "४२": 42,
    "４２": 42,
    "𝟒𝟐": 42,
    "١٬٢٣٤٫٥": 1234.5,
    "٣٫١٤": 3.14,
    "−5": -5,
    "–5": -5,
    "答案是42。": 42,
    "答えは42です": 42,
    "답은 42입니다": 42,
    "好，42": 42,
    "１，２３４": 1234,
    "उत्तर ४२ है।": 42,
}
POWERS_OF_TEN = {
    "1.5×10^3": 1500,
    "3.0 × 10^8 m/s": 3e8,
    "$3.0 \\times 10^{8}$": 3e8,
    "2*10**3": 2000,
    "6.02×10²³": 6.02e23,
    "10⁻³": 1e-3,
    "it is 10^3.": 1000,
    "−1.5×10^−3": -1.5e-3,
}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        case
        for table in (WHOLE_TOKENS, SURROUNDED, THOUSANDS, DECIMAL_COMMAS, CURRENCY, SCRIPTS)
        for case in table.items()
    ]
    + [case for table in (POWERS_OF_TEN, FRACTIONS, LARGE, UNITS) for case in table.items()],
)
def test_the_last_number_is_read_as_a_person_would(text: str, number: float) -> None:
    assert last_number(text) == number


@pytest.mark.parametrize("text", NO_NUMBER + NAMES)
def test_a_text_without_digits_and_a_name_hold_no_number(text: str) -> None:
    assert last_number(text) is None


@pytest.mark.parametrize("text", NAMES)
def test_a_name_does_not_hide_the_number_before_it(text: str) -> None:
    assert last_number(f"8 of {text}") == 8


@pytest.mark.parametrize("before", ["", "8 of "])
@pytest.mark.parametrize("text", UNREADABLE + AMBIGUOUS)
def test_a_last_number_that_cannot_be_read_is_said_so_and_no_earlier_one_stands_in(text: str, before: str) -> None:
    with pytest.raises(UnreadableNumber, match="cannot be read as one number"):
        last_number(before + text)


def test_the_number_that_cannot_be_read_is_named() -> None:
    with pytest.raises(UnreadableNumber) as caught:
        last_number("He has 3 left at 10:30 sharp")
    assert caught.value.token == "10:30"


@pytest.mark.parametrize("text", ["10:30, so 3", "37abc 3", "5 pm, 3"])
def test_what_stands_before_the_last_number_may_be_anything(text: str) -> None:
    assert last_number(text) == 3


def test_a_whole_number_of_many_digits_stays_exact() -> None:
    assert last_number("9007199254740993") == 9007199254740993
    assert last_number("-9007199254740993") == -9007199254740993


def test_leading_zeros_are_no_digits_too_many() -> None:
    assert last_number("0" * 5000 + "1") == 1


@pytest.mark.parametrize(
    "part",
    [
        "5.",
        "5-",
        "(",
        "<a>",
        "<a",
        "1a-",
        "5 ",
        "± ",
        "1/",
        "/ab",
        "½",
        "5\\,",
        "\\frac",
        "10^",
        "5km",
        "$",
        "1,234",
        "0",
        "\\n",
    ],
)
@pytest.mark.parametrize(
    ("before", "behind"),
    [("", "x:5:"), ("5", ":"), ("5 ", "10^x"), ("5/", "5.b"), ("1a", "± 5:"), ("1a", ".b")],
)
def test_no_text_takes_more_than_linear_time(part: str, before: str, behind: str) -> None:
    began = process_time()
    with suppress(UnreadableNumber):
        last_number(before + part * 50_000 + behind)
    # Quadratic time would be six seconds and more; what is taken is a few tenths.
    assert process_time() - began < 3


@given(st.integers(-(10**15), 10**15), st.sampled_from([",", ".", "'", "’", "_", "\u00a0", "\u202f", "\u2009"]))
def test_any_grouping_gives_back_the_whole_number(number: int, mark: str) -> None:
    written = f"{number:,}".replace(",", mark)
    if mark == "." and abs(number) < 10**6:
        written = written.replace(".", "")
    assert last_number(written) == number


@given(
    st.decimals(-(10**9), 10**9, places=2),
    st.sampled_from([(",", "."), (".", ","), ("\u202f", ","), ("’", "."), ("", "."), ("", ",")]),
    st.sampled_from(["{}", "**{}**", "({})", "${}", "{} €", "\\boxed{{{}}}", "the answer is {}.", "= {}", "{}%"]),
)
def test_amounts_of_any_place_in_any_dress_give_back_the_number(
    amount: object, marks: tuple[str, str], dress: str
) -> None:
    english = f"{amount:,.2f}"
    written = "".join({",": marks[0], ".": marks[1]}.get(character, character) for character in english)
    assert last_number(dress.format(written)) == float(english.replace(",", ""))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_pythons_own_form_of_any_float_gives_back_the_float(number: float) -> None:
    assert last_number(f"it is {number!r}.") == number


@given(st.text(), st.integers(0, 10**9))
def test_the_text_before_does_not_change_the_last_number(before: str, number: int) -> None:
    assert last_number(f"{before} \n so {number}") == number


@given(st.text())
def test_every_text_can_be_read_and_holds_no_number_without_a_digit(text: str) -> None:
    with suppress(UnreadableNumber):
        number = last_number(text)
        if not re.search(r"\d|[¼½¾⅐-⅞↉]", text):
            assert number is None


@given(st.from_regex(r"[-+$€(]{0,2}[\d.,' _eE]{1,12}[%.)]{0,2}", fullmatch=True))
def test_whatever_digits_and_marks_make_is_finite_or_none(text: str) -> None:
    with suppress(UnreadableNumber):
        number = last_number(text)
        assert number is None or abs(number) < 1e309


def test_what_only_begins_as_a_part_does_is_no_part() -> None:
    # Up to Python 3.11.4 a group that never gives back kept what its last turn, which failed, had taken.
    assert last_number("Rs,00") is None
    with pytest.raises(UnreadableNumber, match="3,/9"):
        last_number("3,/9")
