"""The running mean and variance against the standard library's exact ones."""

import math
import random
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.scores.moments import Moments

numbers = st.floats(-1e6, 1e6, allow_nan=False)
chunk_lists = st.lists(st.lists(numbers, max_size=12), min_size=1, max_size=8)


def moments_of(*chunks: list[float]) -> Moments:
    moments = Moments()
    for chunk in chunks:
        moments.add(chunk)
    return moments


@given(chunks=chunk_lists)
def test_mean_and_variance_are_those_of_all_values_however_they_were_cut_into_chunks(chunks: list[list[float]]) -> None:
    values = [value for chunk in chunks for value in chunk]
    moments = moments_of(*chunks)

    assert moments.n == len(values)
    if values:
        assert moments.mean == pytest.approx(statistics.fmean(values), rel=1e-14, abs=1e-300)
        assert (moments.low, moments.high) == (min(values), max(values))
    if len(values) > 1:
        assert moments.variance == pytest.approx(statistics.variance(values), rel=1e-9, abs=1e-18)


@given(chunks=chunk_lists, offset=st.sampled_from([0.0, 1e9, -3e12]), seed=st.integers(0, 9))
def test_the_mean_does_not_depend_on_the_order_in_which_chunks_arrive(
    chunks: list[list[float]], offset: float, seed: int
) -> None:
    moved = [[value + offset for value in chunk] for chunk in chunks]
    other_order = random.Random(seed).sample(moved, len(moved))

    assert moments_of(*moved).mean == moments_of(*other_order).mean


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e11])
def test_a_large_offset_costs_no_digits_of_the_variance(offset: float) -> None:
    draw = random.Random(3)
    chunks = [[offset + draw.gauss(0, 1) for _ in range(400)] for _ in range(50)]
    values = [value for chunk in chunks for value in chunk]
    moments = moments_of(*chunks)

    assert moments.mean == statistics.mean(values)
    assert moments.variance == pytest.approx(statistics.variance(values), rel=1e-9)


def test_a_first_value_far_from_all_others_costs_no_digits_of_the_variance() -> None:
    values = [1e12, *(number / 1000 for number in range(1000))]
    moments = moments_of(values[:1], values[1:500], values[500:])

    assert moments.variance == pytest.approx(statistics.variance(values), rel=1e-12)


@given(value=st.floats(allow_nan=False, allow_infinity=False), counts=st.lists(st.integers(1, 9), min_size=2))
def test_equal_values_have_their_own_value_as_mean_and_no_variance_at_all(value: float, counts: list[int]) -> None:
    moments = moments_of(*([value] * count for count in counts))

    assert moments.mean is None or (moments.mean, moments.variance) == (value, 0.0)
    assert (moments.mean is None) == math.isinf(value * sum(counts))


def test_a_mean_of_negative_zeros_prints_without_a_sign() -> None:
    assert str(moments_of([-0.0, -0.0]).mean) == "0.0"


def test_without_values_there_is_neither_mean_nor_variance_and_with_one_no_variance() -> None:
    assert (moments_of([]).n, moments_of([]).mean, moments_of([]).variance) == (0, None, None)
    assert (moments_of([4.0]).mean, moments_of([4.0]).variance) == (4.0, None)


def test_a_sum_beyond_the_largest_float_leaves_mean_and_variance_unknown_and_the_count_right() -> None:
    moments = moments_of([1e308, 1e308], [1.0])

    assert (moments.n, moments.mean, moments.variance) == (3, None, None)


def test_a_variance_beyond_the_largest_float_is_unknown_while_the_mean_is_known() -> None:
    moments = moments_of([1e200, -1e200, 3.0])

    assert (moments.mean, moments.variance) == (1.0, None)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_chunk_with_a_value_that_is_no_finite_number_is_refused_whole(bad: float) -> None:
    moments = moments_of([1.0, 3.0])

    with pytest.raises(ValueError, match="NaN or infinite"):
        moments.add([5.0, bad, 7.0])
    assert (moments.n, moments.mean) == (2, 2.0)
    assert moments.variance == pytest.approx(2.0)


@given(cuts=st.lists(st.integers(1, 3000), max_size=6), seed=st.integers(0, 9))
def test_mean_and_variance_are_the_same_to_the_last_bit_however_the_values_are_cut(cuts: list[int], seed: int) -> None:
    draw = random.Random(seed)
    values = [draw.gauss(3, 1) * 10 ** draw.randint(-3, 3) for _ in range(2500)]
    ends = sorted({min(cut, len(values)) for cut in cuts} | {len(values)})
    cut = moments_of(*(values[start:end] for start, end in zip([0, *ends], ends, strict=False)))
    whole = moments_of(values)

    assert (cut.n, cut.mean, cut.variance) == (whole.n, whole.mean, whole.variance)


# The sum of 0.1, 0.2 and 0.3 rounds to 0.6, and 0.6 / 3 to less than 0.2: a gate at 0.2 failed by rounding alone.
def test_the_mean_is_rounded_once() -> None:
    moments = Moments()
    moments.add([0.1, 0.2, 0.3])

    assert moments.mean == 0.2
    assert moments.mean == float(sum(map(Fraction, (0.1, 0.2, 0.3))) / 3)
