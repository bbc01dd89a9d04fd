"""Dollars add up exactly and are shown with the digits that say something."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.usd import PICO, picodollars, shown_usd


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (0.0, "$0.00"),
        (0.12, "$0.12"),
        (0.125, "$0.13"),
        (0.01185, "$0.012"),
        (0.000_004_2, "$0.0000042"),
        (1e-12, "$0.000000000001"),
        (1e-15, "$0.00"),
        (0.0999, "$0.10"),
        (1234.5, "$1,234.50"),
    ],
)
def test_an_amount_has_cents_and_below_ten_of_them_two_digits(usd: float, shown: str) -> None:
    assert shown.rstrip("0") == shown_usd(usd).rstrip("0")
    assert len(shown_usd(usd)) >= len("$0.00")


def test_what_is_known_of_a_greater_amount_is_never_rounded_up() -> None:
    assert shown_usd(0.129, at_least=True) == "≥ $0.12"
    assert shown_usd(0.29, at_least=True) == "≥ $0.29"
    assert shown_usd(0.0, at_least=True) == "≥ $0.00"


@given(cents=st.lists(st.integers(0, 10_000), max_size=30), seed=st.integers(0, 9))
def test_sums_are_exact_in_any_order(cents: list[int], seed: int) -> None:
    amounts = [cent / 100 for cent in cents]
    random.Random(seed).shuffle(amounts)
    assert sum(map(picodollars, amounts)) / PICO == sum(cents) / 100
