"""How the last number of a text is read: each rule of the docstring with what people and models write."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_core.numbers import last_number

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
    "Serial 37abc",
    "abc37",
    "1.2.3",
    "v2",
    "2024-01-05",
    "01/05/2024",
    "12:30",
    "10-20",
    "10–20",
    "3/4",
    "3:1",
    "½",
    "3½",
    "5²",
    "--42",
    "42-year-old",
    "COVID-19",
    "0x1F",
    "nan",
    "inf",
    "Infinity",
    "192.168.1.1",
    "https://example.org/?id=42",
    "café42",
    "cafe\u030142",
    "\\frac{3}{4}",
    "\\sqrt{2}",
    "x^{2}",
    "2^{10}",
    "210^3",
    "x10^3",
    "x<sup>2</sup>",
]
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
    "21°C": 21,
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
        for table in (WHOLE_TOKENS, SURROUNDED, THOUSANDS, DECIMAL_COMMAS, CURRENCY, SCRIPTS, POWERS_OF_TEN)
        for case in table.items()
    ],
)
def test_the_last_number_is_read_as_a_person_would(text: str, number: float) -> None:
    assert last_number(text) == number


@pytest.mark.parametrize("text", NO_NUMBER + AMBIGUOUS)
def test_what_is_no_number_or_could_be_two_is_none(text: str) -> None:
    assert last_number(text) is None


def test_a_multiplier_of_chinese_or_korean_is_not_dropped_from_its_number() -> None:
    assert last_number("3万") is None
    assert last_number("3만") is None


@pytest.mark.parametrize("text", ["1e999", "-1e999", "9" * 400, "5 at first, then 1e999"])
def test_a_number_that_no_float_holds_is_none_and_no_earlier_one_stands_in(text: str) -> None:
    assert last_number(text) is None


def test_a_whole_number_of_many_digits_stays_exact() -> None:
    assert last_number("9007199254740993") == 9007199254740993


@pytest.mark.parametrize(
    "text", ["5" + "." * 100_000 + "x", "(" * 100_000 + "x5", "<a>" * 50_000 + "5x", "5 " + " " * 100_000 + "10^x"]
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    assert last_number(text) in (None, 5)


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
    number = last_number(text)
    if not re.search(r"\d", text):
        assert number is None


@given(st.from_regex(r"[-+$€(]{0,2}[\d.,' _eE]{1,12}[%.)]{0,2}", fullmatch=True))
def test_whatever_digits_and_marks_make_is_finite_or_none(text: str) -> None:
    number = last_number(text)
    assert number is None or abs(number) < 1e309
