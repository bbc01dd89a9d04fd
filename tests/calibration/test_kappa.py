"""Cohen's kappa: against published values and other libraries, and what holds for every table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.confusion import confusion
from evalsi_calibration.kappa import METHOD, kappa, quadratic_weights

# Fleiss, Levin & Paik, Statistical Methods for Rates and Proportions (2003), table 18.1: 100 diagnoses by two raters.
DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
# Fleiss, Cohen & Everitt (1969), their example of 200 diagnoses.
FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
HUMAN = "324115135152114412154151251554121523425153521552315151524543"
JUDGE = "334115335351215413155142253554112444545154531552234152513553"
STEPS = "12345"

tables = st.integers(2, 5).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
)


def transposed(table: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*table, strict=True)]


# -- known values --------------------------------------------------------------------------------------------------


def test_kappa_is_the_one_that_the_textbook_prints() -> None:
    found = kappa(DIAGNOSES)
    assert found is not None
    assert round(found.value, 2) == 0.68


def test_kappa_and_its_variance_are_those_of_the_paper_that_gives_the_formula() -> None:
    found = kappa(FLEISS_COHEN_EVERITT)
    assert found is not None
    assert round(found.value, 3) == 0.429
    assert found.error**2 == pytest.approx(0.002885, abs=1e-6)


# statsmodels 0.15.0: kappa, std_kappa, kappa_low and kappa_upp of cohens_kappa(table); the weighted, wt="quadratic".
@pytest.mark.parametrize(
    ("table", "value", "error", "low", "high"),
    [
        (DIAGNOSES, 0.676470588235294, 0.08770295347521254, 0.5045759580860855, 0.8483652183845026),
        (FLEISS_COHEN_EVERITT, 0.4285714285714285, 0.05371100486916735, 0.32329979345440496, 0.533843063688452),
        ([[3, 4], [5, 20]], 0.21739130434782608, 0.19226332820966913, -0.1594378944909293, 0.5942205031865815),
    ],
)
def test_kappa_is_that_of_statsmodels(
    table: list[list[int]], value: float, error: float, low: float, high: float
) -> None:
    found = kappa(table)
    assert found is not None
    interval = found.interval(0.95)
    assert interval is not None
    assert (found.value, found.error) == pytest.approx((value, error), rel=1e-12)
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-9)
    assert (interval.level, interval.method) == (0.95, METHOD)


@pytest.mark.parametrize(
    ("table", "value", "error"),
    [
        (DIAGNOSES, 0.7553191489361702, 0.08670713249380735),
        (FLEISS_COHEN_EVERITT, 0.5666666666666667, 0.05566634015823023),
    ],
)
def test_quadratic_kappa_is_that_of_statsmodels(table: list[list[int]], value: float, error: float) -> None:
    found = kappa(table, quadratic_weights([1, 2, 3]))
    assert found is not None
    assert (found.value, found.error) == pytest.approx((value, error), rel=1e-12)


# scikit-learn 1.9.1: cohen_kappa_score(human, judge, labels=[1, 2, 3, 4, 5]), and with weights="quadratic".
def test_both_kappas_are_those_of_scikit_learn() -> None:
    matrix = confusion(zip(HUMAN, JUDGE, strict=True), STEPS)
    plain, quadratic = kappa(matrix.counts), kappa(matrix.counts, quadratic_weights([1, 2, 3, 4, 5]))
    assert plain is not None
    assert quadratic is not None
    assert plain.value == pytest.approx(0.423076923076923, rel=1e-12)
    assert quadratic.value == pytest.approx(0.8538961038961039, rel=1e-12)


# -- what holds for every table ------------------------------------------------------------------------------------


@given(tables)
def test_kappa_does_not_depend_on_who_is_the_first_rater(table: list[list[int]]) -> None:
    one, other = kappa(table), kappa(transposed(table))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.error == pytest.approx(other.error, abs=1e-6)


@given(tables)
def test_kappa_lies_between_its_bounds_and_so_does_its_interval(table: list[list[int]]) -> None:
    for weights in (None, quadratic_weights(range(len(table)))):
        found = kappa(table, weights)
        if found is None:
            continue
        assert -1 <= found.value <= 1
        interval = found.interval(0.95)
        if interval is not None:
            assert -1 <= interval.low < interval.high <= 1
            assert interval.low <= found.value <= interval.high


@given(st.lists(st.integers(0, 30), min_size=2, max_size=6))
def test_full_agreement_is_1_without_an_interval_and_undefined_with_a_single_category(counts: list[int]) -> None:
    table = [[count if row == column else 0 for column in range(len(counts))] for row, count in enumerate(counts)]
    for weights in (None, quadratic_weights(range(len(counts)))):
        found = kappa(table, weights)
        if sum(map(bool, counts)) < 2:
            assert found is None
        else:
            assert found is not None
            assert found.value == pytest.approx(1.0)
            assert found.error == 0.0
            assert found.interval(0.95) is None


@given(tables)
def test_a_category_that_nobody_uses_changes_nothing(table: list[list[int]]) -> None:
    wider = [[*row, 0] for row in table] + [[0] * (len(table) + 1)]
    one, other = kappa(table), kappa(wider)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.value, one.error) == pytest.approx((other.value, other.error), abs=1e-9)


@given(tables, st.integers(2, 9))
def test_more_of_the_same_narrows_the_error_by_the_square_root(table: list[list[int]], times: int) -> None:
    one, more = kappa(table), kappa([[times * count for count in row] for row in table])
    if one is None or more is None:
        assert one is None
        assert more is None
        return
    assert more.value == pytest.approx(one.value, abs=1e-12)
    if one.error and more.error:
        assert more.error == pytest.approx(one.error / times**0.5, rel=1e-6)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=4), st.lists(st.integers(1, 20), min_size=2, max_size=4))
def test_raters_that_know_nothing_of_one_another_agree_by_chance_only(rows: list[int], columns: list[int]) -> None:
    size = min(len(rows), len(columns))
    table = [[rows[row] * columns[column] for column in range(size)] for row in range(size)]
    found = kappa(table)
    assert found is not None
    assert found.value == pytest.approx(0.0, abs=1e-12)


# -- where it says nothing -----------------------------------------------------------------------------------------


def test_without_a_count_kappa_is_undefined() -> None:
    assert kappa([[0, 0], [0, 0]]) is None
    assert kappa([]) is None


def test_where_both_know_one_category_only_kappa_is_undefined_and_neither_1_nor_0() -> None:
    assert kappa([[7, 0], [0, 0]]) is None


def test_where_one_rater_never_varies_kappa_is_0_without_an_interval() -> None:
    found = kappa([[6, 4], [0, 0]])
    assert found is not None
    assert found.value == pytest.approx(0.0)
    assert found.interval(0.95) is None


def test_an_interval_ends_at_the_bounds_of_kappa() -> None:
    found = kappa([[0, 5], [3, 0]])
    assert found is not None
    interval = found.interval(0.95)
    assert interval is not None
    # statsmodels 0.15.0 gives -0.8824 and [-1.4767, -0.2880].
    assert interval.low == -1.0
    assert interval.high == pytest.approx(-0.2880185543361683)


def test_quadratic_weights_follow_the_distance_on_the_scale() -> None:
    assert quadratic_weights([1, 2, 5]) == [[1, 1 - 1 / 16, 0], [1 - 1 / 16, 1, 1 - 9 / 16], [0, 1 - 9 / 16, 1]]
