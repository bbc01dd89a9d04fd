"""Thousands grouped by plain spaces: read where a group begins with 0, which no number of its own does."""

from contextlib import suppress
from time import process_time

import pytest

from evalsi_pack_core.numbers import UnreadableNumber, last_number

READ = {
    "1 000": 1000,
    "1 000 000": 1_000_000,
    "5 000 000 people": 5_000_000,
    "12 050 km": 12_050,
    "-1 000": -1000,
    "$1 000.50": 1000.5,
    "1 000,50 €": 1000.5,
    "1 234 000": 1_234_000,
    "in 2020 1 000": 1000,
    "3 of 1 000 or 7": 7,
    "100 200 300": 300,
    "1 0": 0,
    "٣ ٠٠٠": 3000,
}


@pytest.mark.parametrize(("text", "number"), READ.items())
def test_a_group_that_begins_with_0_shows_that_the_spaces_separate_thousands(text: str, number: float) -> None:
    assert last_number(text) == number


def test_no_part_of_such_a_number_stands_in_where_it_cannot_be_read() -> None:
    with pytest.raises(UnreadableNumber):
        last_number("8 of 1 000/3")


@pytest.mark.parametrize("part", [" 100", " 000", "1 000 ", " 0"])
@pytest.mark.parametrize("behind", ["", " 0000", " 1000:5:"])
def test_many_groups_take_no_more_than_linear_time(part: str, behind: str) -> None:
    began = process_time()
    with suppress(UnreadableNumber):
        last_number("1" + part * 50_000 + behind)
    assert process_time() - began < 3
