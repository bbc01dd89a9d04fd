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


def compared(base: Sequence[float], cand: Sequence[float]) -> PairedDifference:
    found = paired_difference(values_of(base), values_of(cand), 0.95)
    assert found is not None
    return found


def test_differences_of_numbers_have_students_interval() -> None:
    base, cand = [0.2, 0.4, 0.6, 0.9], [0.3, 0.4, 0.9, 0.8]
    found, expected = compared(base, cand), stats.ttest_rel(cand, base).confidence_interval(0.95)

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert not found.is_significant
    assert found.told == (
        "Over 4 pairs the difference may be chance (0.95 interval of the difference -0.1968 to 0.3468)."
    )


def test_one_trial_of_pass_or_fail_is_judged_by_mcnemar() -> None:
    found = compared([1.0] * 10, [1.0] * 4 + [0.0] * 6)

    assert found.is_significant
    assert found.told == "Over 10 pairs the difference is no chance (p = 0.0156 by McNemar's test)."
    assert "p = 0.0312 by McNemar" in compared([1.0] * 10, [1.0] * 5 + [0.0] * 5).told
    assert not compared([1.0] * 10, [1.0] * 6 + [0.0] * 4).is_significant


def test_several_trials_of_a_record_are_one_share_that_mcnemar_knows_nothing_of() -> None:
    base: RecordValues = {"r1": (1.0, 1.0), "r2": (1.0, 0.0), "r3": (0.0, 0.0)}
    cand: RecordValues = {"r1": (0.0, 1.0), "r2": (1.0, 1.0), "r3": (0.0, 1.0)}
    found = paired_difference(base, cand, 0.95)

    expected = stats.ttest_rel([0.5, 1.0, 0.5], [1.0, 0.5, 0.0]).confidence_interval(0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((max(-1.0, expected.low), min(1.0, expected.high)))
    assert "0.95 interval of the difference -1 to 1" in found.told


def test_differences_without_a_spread_are_judged_by_their_signs() -> None:
    many, few = compared([0.5] * 10, [0.25] * 10), compared([0.5] * 4, [0.25] * 4)

    assert (many.low, many.high, many.is_significant) == (None, None, True)
    assert "p = 0.00195 by the exact sign test" in many.told
    assert (few.is_significant, "p = 0.125 by the exact sign test" in few.told) == (False, True)
    assert "p = 1 by the exact sign test" in compared([0.5], [0.25]).told
    assert not compared([0.5] * 10, [0.5] * 10).is_significant


# In floats 0.3 - 0.2 and 0.8 - 0.7 are not the same, and Student's t took the rounding for all the error there is.
def test_the_rounding_of_a_subtraction_is_no_spread() -> None:
    found = compared([0.3, 0.8, 0.5], [0.2, 0.7, 0.4])

    assert (found.low, found.is_significant) == (None, False)
    assert "p = 0.25 by the exact sign test" in found.told


def test_records_of_one_run_alone_are_counted_and_left_out() -> None:
    found = paired_difference({"r1": (0.5,), "r2": (0.25,), "old": (1.0,)}, {"r1": (0.5,), "r2": (0.25,)}, 0.95)

    assert found is not None
    assert found.told == "Over 2 pairs there is no difference, 1 records without a pair left out."
    assert paired_difference({"old": (1.0,)}, {"new": (1.0,)}, 0.95) is None


@pytest.mark.parametrize("huge", [1e200, 1e308])
def test_values_too_large_for_floats_to_add_up_have_no_test(huge: float) -> None:
    assert paired_difference({"r1": (huge, huge)}, {"r1": (1.0,)}, 0.95) is None
    assert paired_difference(values_of([huge, 1.0]), values_of([-huge, 1.0]), 0.95) is None


@given(values=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_exchanging_the_sides_mirrors_the_interval_alone(values: list[tuple[float, float]]) -> None:
    base, cand = [list(one) for one in zip(*values, strict=True)]
    there, back = compared(base, cand), compared(cand, base)

    assert there.is_significant == back.is_significant
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
        found += difference.is_significant

    assert found / rounds < 0.09


def test_trials_in_another_order_are_no_difference() -> None:
    found = paired_difference({"r1": (0.1, 0.2, 0.3)}, {"r1": (0.3, 0.2, 0.1)}, 0.95)

    assert found is not None
    assert (found.told, found.mean) == ("Over 1 pairs there is no difference.", 0.0)
