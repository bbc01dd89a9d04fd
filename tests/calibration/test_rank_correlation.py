"""Spearman's rank correlation: against scipy, and what holds for all columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.rank_correlation import pearson, ranks, spearman
from tests.calibration.test_kappa import HUMAN, JUDGE

columns = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=2, max_size=40)


# scipy 1.17.1: spearmanr(human, judge).statistic.
def test_it_is_that_of_scipy_with_many_ties() -> None:
    assert spearman([*map(float, HUMAN)], [*map(float, JUDGE)]) == pytest.approx(0.8685427775072578, rel=1e-12)


# scipy 1.17.1: pointbiserialr(wins, differences).statistic.
def test_of_two_values_and_numbers_it_is_the_point_biserial_correlation_of_scipy() -> None:
    differences = [120.0, -40, 15, 300, -220, 60, -5, 80, -90, 10]
    assert pearson(differences, [1.0, 0, 1, 1, 0, 1, 1, 0, 0, 1]) == pytest.approx(0.5708444379376412, rel=1e-12)


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert ranks([5.0, 1.0, 5.0, 3.0, 5.0]) == [4.0, 1.0, 4.0, 2.0, 4.0]


@given(columns)
def test_it_is_symmetric_within_its_bounds_and_turns_with_the_order(pairs: list[tuple[int, int]]) -> None:
    one, other = [float(pair[0]) for pair in pairs], [float(pair[1]) for pair in pairs]
    found = spearman(one, other)
    if found is None:
        assert len(set(one)) == 1 or len(set(other)) == 1
        return
    assert -1 <= found <= 1
    assert spearman(other, one) == pytest.approx(found, abs=1e-12)
    assert spearman([-value for value in one], other) == pytest.approx(-found, abs=1e-12)


@given(columns)
def test_only_the_order_counts(pairs: list[tuple[int, int]]) -> None:
    one, other = [float(pair[0]) for pair in pairs], [float(pair[1]) for pair in pairs]
    assert spearman([value**3 + 7 for value in one], other) == spearman(one, other)


@given(st.lists(st.integers(), min_size=2, max_size=30, unique=True))
def test_a_column_and_itself_are_in_full_order(values: list[int]) -> None:
    column = [float(place) for place in range(len(values))]
    assert spearman(column, column) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("one", "other"), [([1.0, 1.0], [1.0, 2.0]), ([1.0, 2.0], [3.0, 3.0]), ([], []), ([1.0], [1.0])]
)
def test_without_an_order_it_is_undefined(one: list[float], other: list[float]) -> None:
    assert spearman(one, other) is None
