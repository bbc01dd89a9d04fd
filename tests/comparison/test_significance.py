"""What a gate is told of pairs: scipy's values, and the exact tests where Student's t has nothing to go by."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalsi_comparison.significance import paired_difference
from evalsi_kernel.gates.baseline import PairedDifference, RecordValues


def values_of(values: Sequence[float]) -> RecordValues:
    return {str(number): (value,) for number, value in enumerate(values)}


def compared(base: Sequence[float], cand: Sequence[float], *, of_verdicts: bool = False) -> PairedDifference:
    found = paired_difference(values_of(base), values_of(cand), 0.95, of_verdicts=of_verdicts)
    assert found is not None
    return found


def test_differences_of_numbers_have_students_interval() -> None:
    base, cand = [0.2, 0.4, 0.6, 0.9], [0.3, 0.4, 0.9, 0.8]
    found, expected = compared(base, cand), stats.ttest_rel(cand, base).confidence_interval(0.95)

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.p == pytest.approx(stats.ttest_rel(cand, base).pvalue)
    assert (found.test, found.pairs, found.clusters, found.is_same) == ("the paired t test", 4, None, False)


def test_one_trial_of_pass_or_fail_is_judged_by_mcnemar() -> None:
    for lost, expected in ((6, 0.015625), (5, 0.03125), (4, 0.0625)):
        found = compared([1.0] * 10, [1.0] * (10 - lost) + [0.0] * lost, of_verdicts=True)
        assert found.p == pytest.approx(expected)
        assert found.test == "McNemar's test (mid-p)"


def test_t1_numbers_that_happen_to_be_0_and_1_are_tested_as_numbers_as_compare_does() -> None:
    assert compared([1.0] * 10, [1.0] * 4 + [0.0] * 6).test == "the paired t test"


def test_several_trials_of_a_record_are_one_share_that_mcnemar_knows_nothing_of() -> None:
    base: RecordValues = {"r1": (1.0, 1.0), "r2": (1.0, 0.0), "r3": (0.0, 0.0)}
    cand: RecordValues = {"r1": (0.0, 1.0), "r2": (1.0, 1.0), "r3": (0.0, 1.0)}
    found = paired_difference(base, cand, 0.95, of_verdicts=True)

    expected = stats.ttest_rel([0.5, 1.0, 0.5], [1.0, 0.5, 0.0]).confidence_interval(0.95)
    assert found is not None
    assert found.low == pytest.approx(max(-1.0, expected.low))
    assert found.high == pytest.approx(min(1.0, expected.high))
    assert found.test == "the paired t test"


def test_differences_without_a_spread_are_judged_by_their_signs() -> None:
    many, few = compared([0.5] * 10, [0.25] * 10), compared([0.5] * 4, [0.25] * 4)

    assert many.low is None
    assert many.high is None
    assert many.test == "the exact sign test"
    assert many.p == pytest.approx(2**-9)
    assert few.p == pytest.approx(0.125)
    assert compared([0.5], [0.25]).p is None
    assert compared([0.5] * 10, [0.5] * 10).p == 1.0


# In floats 0.3 - 0.2 and 0.8 - 0.7 are not the same, and Student's t took the rounding for all the error there is.
def test_the_rounding_of_a_subtraction_is_no_spread() -> None:
    found = compared([0.3, 0.8, 0.5], [0.2, 0.7, 0.4])

    assert (found.low, found.test) == (None, "the exact sign test")
    assert found.p == pytest.approx(0.25)


def test_records_of_one_run_alone_are_counted_and_left_out() -> None:
    found = paired_difference({"r1": (0.5,), "r2": (0.25,), "old": (1.0,)}, {"r1": (0.5,), "r2": (0.25,)}, 0.95)

    assert found is not None
    assert (found.pairs, found.unpaired, found.is_same) == (2, 1, True)
    assert paired_difference({"old": (1.0,)}, {"new": (1.0,)}, 0.95) is None


@pytest.mark.parametrize("huge", [1e200, 1e308])
def test_values_too_large_for_floats_to_add_up_have_no_test(huge: float) -> None:
    assert paired_difference({"r1": (huge, huge)}, {"r1": (1.0,)}, 0.95) is None
    assert paired_difference(values_of([huge, 1.0]), values_of([-huge, 1.0]), 0.95) is None


@given(values=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_exchanging_the_sides_mirrors_the_interval_alone(values: list[tuple[float, float]]) -> None:
    base, cand = [list(one) for one in zip(*values, strict=True)]
    there, back = compared(base, cand), compared(cand, base)

    assert there.p == pytest.approx(back.p)
    if there.low is None or there.high is None:
        assert back.low is None
    else:
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-12)


# One by one, a difference that was none was found in 0.26 of such runs.
def test_clusters_find_a_difference_that_is_none_no_oftener_than_they_should() -> None:
    draw, found, rounds = random.Random(12), 0, 300
    clusters = {str(number): str(number // 5) for number in range(100)}
    for _ in range(rounds):
        moves = [draw.gauss(0, 1) for _ in range(20)]
        base: RecordValues = {record: (draw.gauss(5, 1),) for record in clusters}
        moved = {record: value + moves[int(record) // 5] for record, (value, *_) in base.items()}
        cand: RecordValues = {record: (value + draw.gauss(0, 1),) for record, value in moved.items()}
        difference = paired_difference(base, cand, 0.95, clusters)
        assert difference is not None
        assert difference.p is not None
        found += difference.p < 0.05

    assert found / rounds < 0.09


def test_trials_in_another_order_are_no_difference() -> None:
    found = paired_difference({"r1": (0.1, 0.2, 0.3)}, {"r1": (0.3, 0.2, 0.1)}, 0.95)

    assert found is not None
    assert (found.is_same, found.mean) == (True, 0.0)
