"""Paired differences against scipy's values, and the exact tests where Student's t has nothing to go by."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_comparison.mcnemar import mcnemar_midp as comparison_midp
from evalsi_kernel.gates.baseline import RecordValues
from evalsi_kernel.gates.paired_difference import PairedDifference, mcnemar_midp, paired_difference, sign_test


def compared(base: list[float], cand: list[float]) -> PairedDifference:
    sides = RecordValues(), RecordValues()
    for values, of in zip((base, cand), sides, strict=True):
        for number, value in enumerate(values):
            of.add(str(number), value)
    found = paired_difference(*sides, 0.95)
    assert found is not None
    return found


# scipy 1.17: ttest_rel(cand, base).confidence_interval(0.95)
def test_differences_of_numbers_have_students_interval() -> None:
    found = compared([0.2, 0.4, 0.6, 0.9], [0.3, 0.4, 0.9, 0.8])

    assert found.difference == pytest.approx(0.075)
    assert (found.low, found.high) == pytest.approx((-0.19675, 0.34675), abs=1e-5)
    assert (found.method, found.p_value, found.is_significant) == ("t", None, False)


@given(won=st.integers(0, 60), lost=st.integers(0, 60))
def test_the_sign_test_is_twice_the_smaller_tail(won: int, lost: int) -> None:
    n = won + lost
    tail = sum(Fraction(comb(n, one), 2**n) for one in range(min(won, lost) + 1))

    assert sign_test(won, lost) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-9)


def test_the_sign_test_bears_more_changes_than_floats_hold() -> None:
    assert sign_test(50_000, 50_000) == 1.0
    assert 0.0 < sign_test(50_400, 49_600) < 0.02


def test_one_trial_of_pass_or_fail_is_judged_by_mcnemar() -> None:
    found = compared([1.0] * 10, [1.0] * 4 + [0.0] * 6)

    assert found.method == "mcnemar-midp"
    assert found.p_value == pytest.approx(0.03125 / 2)
    assert found.is_significant
    assert compared([1.0] * 10, [1.0] * 5 + [0.0] * 5).p_value == pytest.approx(0.03125)
    assert not compared([1.0] * 10, [1.0] * 6 + [0.0] * 4).is_significant


@given(won=st.integers(0, 60), lost=st.integers(0, 60))
def test_a_gate_and_a_comparison_say_the_same_of_the_same_changes(won: int, lost: int) -> None:
    assert mcnemar_midp(won, lost) == pytest.approx(comparison_midp(lost, won), rel=1e-9)


def test_differences_without_a_spread_are_judged_by_their_signs() -> None:
    many, few = compared([0.5] * 10, [0.25] * 10), compared([0.5] * 4, [0.25] * 4)

    assert (many.method, many.low, many.is_significant) == ("sign-exact", None, True)
    assert (few.method, few.is_significant) == ("sign-exact", False)
    assert not compared([0.5] * 10, [0.5] * 10).is_significant


@given(values=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_exchanging_the_sides_changes_the_sign_alone(values: list[tuple[float, float]]) -> None:
    base, cand = [list(one) for one in zip(*values, strict=True)]
    there, back = compared(base, cand), compared(cand, base)

    assert there.difference == pytest.approx(-back.difference, abs=1e-12)
    assert there.is_significant == back.is_significant
    assert (there.method, there.pairs) == (back.method, back.pairs)
    assert (there.won, there.lost) == (back.lost, back.won)
