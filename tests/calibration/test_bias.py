"""Bias of a judge that gives numbers: its interval against scipy's, and what holds for all numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.bias import bias, bias_per_score

places = st.floats(0, 1)
pairs = st.lists(st.tuples(places, places), min_size=2, max_size=40)


# scipy 1.17.1: t.interval(0.95, 5, mean, std / sqrt(6)) of these differences.
def test_the_interval_of_the_mean_difference_is_that_of_scipy() -> None:
    found = bias([(0.5, 0.5 + difference) for difference in (0.25, 0.0, -0.25, 0.5, 0.0, 0.25)], 0.95)
    assert found is not None
    assert found.ci is not None
    assert found.n == 6
    assert found.mean == pytest.approx(0.125)
    assert (found.ci.low, found.ci.high) == pytest.approx((-0.15016434617700336, 0.40016434617700336), rel=1e-9)


@given(pairs)
def test_exchanging_the_two_turns_the_bias_around(given_pairs: list[tuple[float, float]]) -> None:
    there, back = bias(given_pairs, 0.95), bias([(judge, human) for human, judge in given_pairs], 0.95)
    assert there is not None
    assert back is not None
    assert there.mean == pytest.approx(-back.mean, abs=1e-12)


@given(pairs)
def test_the_bias_per_score_adds_up_to_the_whole(given_pairs: list[tuple[float, float]]) -> None:
    whole, per_score = bias(given_pairs, 0.95), bias_per_score(given_pairs, 0.95)
    assert whole is not None
    assert list(per_score) == sorted({human for human, _ in given_pairs})
    assert sum(one.n for one in per_score.values()) == whole.n
    assert sum(one.mean * one.n for one in per_score.values()) == pytest.approx(whole.mean * whole.n, abs=1e-9)


def test_a_mean_of_one_record_or_of_equal_differences_has_no_interval() -> None:
    one, equal = bias([(0.5, 0.75)], 0.95), bias([(0.0, 0.25), (0.5, 0.75)], 0.95)
    assert one is not None
    assert equal is not None
    assert (one.mean, one.ci) == (0.25, None)
    assert (equal.mean, equal.ci) == (0.25, None)


def test_without_a_pair_there_is_no_bias() -> None:
    assert bias([], 0.95) is None
    assert bias_per_score([], 0.95) == {}
