"""Average precision by hand, and what holds for every ranking."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_rag.average_precision import average_precision

rankings = st.lists(st.booleans(), max_size=12)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        ([0, 1], 0.5),
        ([1, 1, 1], 1.0),
        ([1, 0, 1, 0], 0.833333),
        ([0, 1, 1], 0.583333),
        ([0, 0], 0.0),
        ([1, 0], 1.0),
        ([0, 0, 0, 1], 0.25),
        ([], 0.0),
    ],
)
def test_values_by_hand(relevant: list[int], expected: float) -> None:
    assert average_precision([bool(one) for one in relevant]) == pytest.approx(expected, abs=1e-6)


@given(st.integers(1, 500))
def test_all_relevant_is_exactly_1_however_many(count: int) -> None:
    assert average_precision([True] * count) == 1.0


@given(rankings)
def test_it_is_0_only_where_nothing_is_relevant_and_never_above_1(relevant: list[bool]) -> None:
    value = average_precision(relevant)
    assert 0.0 <= value <= 1.0
    assert (value > 0) is any(relevant)


@given(rankings)
def test_it_is_1_only_where_nothing_irrelevant_stands_before_anything_relevant(relevant: list[bool]) -> None:
    is_sorted = relevant == sorted(relevant, reverse=True)
    assert (average_precision(relevant) == 1.0) is (any(relevant) and is_sorted)


@given(rankings)
def test_it_is_the_mean_over_relevant_ranks_of_the_share_relevant_up_to_there(relevant: list[bool]) -> None:
    precisions = [Fraction(sum(relevant[: rank + 1]), rank + 1) for rank, one in enumerate(relevant) if one]
    exact = sum(precisions, Fraction(0)) / len(precisions) if precisions else Fraction(0)
    assert average_precision(relevant) == pytest.approx(float(exact), abs=1e-12)


@given(rankings, st.data())
def test_moving_a_relevant_chunk_before_an_irrelevant_one_raises_it(relevant: list[bool], data: st.DataObject) -> None:
    places = [place for place in range(len(relevant) - 1) if not relevant[place] and relevant[place + 1]]
    if places:
        place = data.draw(st.sampled_from(places))
        better = [*relevant[:place], True, False, *relevant[place + 2 :]]
        assert average_precision(better) > average_precision(relevant)


@given(rankings, st.integers(0, 5))
def test_irrelevant_chunks_at_the_end_change_nothing(relevant: list[bool], more: int) -> None:
    assert average_precision(relevant + [False] * more) == average_precision(relevant)
