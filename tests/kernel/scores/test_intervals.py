"""Intervals against statsmodels' and scipy's values, their borders, and their coverage."""

import math
import random
from collections.abc import Sequence
from statistics import fmean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalsi_kernel.scores.intervals import (
    Interval,
    clustered_error,
    clustered_t,
    clustered_wilson,
    percentile_interval,
    student_t,
    wilson,
)


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


# statsmodels 0.15.0: proportion_confint(passed, n, alpha=1 - level, method="wilson")
@pytest.mark.parametrize(
    ("passed", "n", "level", "low", "high"),
    [
        (2, 6, 0.95, 0.09677141110578041, 0.700006684861608),
        (2, 3, 0.95, 0.2076596008020477, 0.9385080552796037),
        (0, 25, 0.95, 0.0, 0.13319225093904855),
        (0, 5000, 0.95, 0.0, 0.0007677019450571248),
        (25, 25, 0.95, 0.8668077490609515, 1.0),
        (4, 5, 0.95, 0.3755346297625252, 0.9637758913675698),
        (1, 10, 0.99, 0.011851503411032971, 0.5072317712328935),
        (137, 1000, 0.8, 0.12365908420564509, 0.1515313245229143),
        (1, 1, 0.95, 0.2065493143772374, 1.0),
    ],
)
def test_wilson_agrees_with_statsmodels(passed: int, n: int, level: float, low: float, high: float) -> None:
    interval = wilson(passed, n, level)

    assert ends(interval) == pytest.approx((low, high), abs=1e-12)
    assert (interval.level, interval.method) == (level, "wilson")


# Reported fault open-14: 0 % and 100 % were published with an error of exactly 0, whatever the number of records.
@pytest.mark.parametrize(
    ("passed", "n", "low", "high"), [(0, 25, 0.0, 0.1332), (0, 5000, 0.0, 0.0008), (25, 25, 0.8668, 1.0)]
)
def test_no_pass_and_all_pass_still_have_a_width_that_shrinks_with_the_records(
    passed: int, n: int, low: float, high: float
) -> None:
    assert ends(wilson(passed, n, 0.95)) == pytest.approx((low, high), abs=5e-5)


@given(n=st.integers(1, 10**9), share=st.floats(0, 1), level=st.floats(0.01, 0.9999))
def test_wilson_holds_the_share_stays_a_probability_and_has_a_width(n: int, share: float, level: float) -> None:
    passed = round(share * n)
    low, high = ends(wilson(passed, n, level))

    assert 0 <= low <= passed / n <= high <= 1
    assert low < high


@pytest.mark.parametrize(("passed", "n"), [(0, 0), (-1, 5), (6, 5), (float("nan"), 5)])
def test_wilson_refuses_what_is_no_share(passed: float, n: float) -> None:
    with pytest.raises(ValueError, match="0 <= passed <= n"):
        wilson(passed, n, 0.95)


@pytest.mark.parametrize("n", [10, 25, 100])
def test_wilson_covers_the_true_share_as_often_as_it_says(n: int) -> None:
    """Exact: the probabilities of all samples of n whose interval holds the true share, averaged over true shares."""
    intervals = [wilson(passed, n, 0.95) for passed in range(n + 1)]
    coverages = [
        sum(
            math.comb(n, passed) * share**passed * (1 - share) ** (n - passed)
            for passed, interval in enumerate(intervals)
            if interval.low <= share <= interval.high
        )
        for share in (number / 200 for number in range(1, 200))
    ]

    assert fmean(coverages) == pytest.approx(0.95, abs=0.012)
    assert min(coverages) > 0.83


def test_the_t_interval_of_six_latencies_is_the_one_that_the_readme_shows() -> None:
    latencies = [235.0, 250.0, 550.0, 580.0, 700.0, 790.0]
    interval = student_t(6, fmean(latencies), variance(latencies), 0.95)

    assert ends(interval) == pytest.approx((276.409, 758.591), abs=5e-4)
    assert interval is not None
    assert interval.method == "t"


# statsmodels 0.15.0: DescrStatsW([0.2, 0.9, 0.4, 0.7]).tconfint_mean()
def test_the_t_interval_agrees_with_statsmodels_and_is_cut_to_the_declared_range() -> None:
    values = [0.2, 0.9, 0.4, 0.7]
    mean, spread = fmean(values), variance(values)

    assert ends(student_t(4, mean, spread, 0.95)) == pytest.approx((0.05526861657528087, 1.0447313834247192), abs=1e-12)
    assert ends(student_t(4, mean, spread, 0.95, minimum=0, maximum=1)) == pytest.approx((0.05526861657528087, 1.0))
    assert ends(student_t(4, mean, spread, 0.95, minimum=0.1)) == pytest.approx((0.1, 1.0447313834247192))


@pytest.mark.parametrize(
    ("n", "mean", "spread"),
    [(0, 0.0, 0.0), (1, 5.0, 0.0), (40, 0.7, 0.0), (3, 1e300, math.inf), (5, 1e9, 1e-20)],
    ids=["nothing", "one value", "all equal", "variance beyond floats", "width below the digits of the mean"],
)
def test_a_mean_whose_uncertainty_is_unknown_gets_no_interval(n: int, mean: float, spread: float) -> None:
    assert student_t(n, mean, spread, 0.95) is None


def test_values_outside_their_declared_range_get_no_interval_rather_than_a_reversed_one() -> None:
    assert student_t(4, 3.0, 0.01, 0.95, minimum=0, maximum=1) is None


def test_the_t_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    draw = random.Random(20)
    hits = 0
    for _ in range(4_000):
        values = [draw.gauss(10, 3) for _ in range(6)]
        low, high = ends(student_t(6, fmean(values), variance(values), 0.95))
        hits += low <= 10 <= high

    assert hits / 4_000 == pytest.approx(0.95, abs=0.0105)  # three standard errors


def by_definition(counts: Sequence[float], residuals: Sequence[float]) -> tuple[float, float]:
    """Error and degrees of freedom of a regression on a constant, from the matrices of Bell & McCaffrey (2002).

    Args:
        counts: values of each cluster.
        residuals: one for each value, cluster by cluster.
    """
    n = int(sum(counts))
    ends_at = np.cumsum(np.asarray(counts, dtype=int))
    ones, left = np.ones(n), np.eye(n) - np.full((n, n), 1 / n)
    columns, variance = [], 0.0
    for end, count in zip(ends_at, counts, strict=True):
        rows = slice(int(end - count), int(end))
        values, vectors = np.linalg.eigh(left[rows, rows])
        adjusted = vectors @ np.diag(values**-0.5) @ vectors.T @ ones[rows] / n
        columns.append(left[:, rows] @ adjusted)
        variance += float(adjusted @ np.asarray(residuals)[rows]) ** 2
    crossed = np.array(columns) @ np.array(columns).T
    return math.sqrt(variance), float(np.trace(crossed) ** 2 / np.trace(crossed @ crossed))


@pytest.mark.parametrize(
    "clusters",
    [
        [[3.1, 2.9, 3.4], [5.0, 5.2], [1.1, 0.7, 0.9, 1.3], [4.4]],
        [[1.0], [2.0] * 3, [0.5] * 30],
        [[0.0, 1.0], [1.0, 4.0]],
        [[float(n)] for n in range(7)],
    ],
)
def test_the_error_and_its_degrees_of_freedom_are_those_of_bell_and_mccaffrey(clusters: list[list[float]]) -> None:
    sums, counts = [sum(values) for values in clusters], [float(len(values)) for values in clusters]
    mean = sum(sums) / sum(counts)
    error, df = by_definition(counts, [value - mean for values in clusters for value in values])

    found = clustered_error(sums, counts)
    assert found is not None
    assert (found.error, found.df) == pytest.approx((error, df), rel=1e-9)
    half = float(stats.t.isf(0.025, df)) * error
    interval = clustered_t(sums, counts, 0.95)
    assert ends(interval) == pytest.approx((mean - half, mean + half), rel=1e-8)
    assert interval is not None
    assert interval.method == "clustered-t"


# statsmodels 0.15.0: OLS(values, ones).fit(cov_type="cluster", cov_kwds={"groups": ...}, use_t=True).conf_int()
def test_of_equal_clusters_it_is_the_usual_cluster_robust_regression_on_a_constant() -> None:
    clusters = [[3.1, 2.9, 3.4], [5.0, 5.2, 4.7], [1.1, 0.7, 0.9], [4.4, 2.0, 3.3]]
    sums, counts = [sum(values) for values in clusters], [3.0] * 4

    assert ends(clustered_t(sums, counts, 0.95)) == pytest.approx((0.4058085830833, 5.7108580835834), abs=1e-8)
    assert ends(clustered_t(sums, counts, 0.99)) == pytest.approx((-1.8099833708042, 7.9266500374705), abs=1e-8)
    assert ends(clustered_t(sums, counts, 0.95, minimum=1, maximum=5)) == pytest.approx((1.0, 5.0))


def test_a_few_large_clusters_leave_few_degrees_of_freedom() -> None:
    found = clustered_error([1.0] * 20, [1.0] * 15 + [5.0, 10.0, 20.0, 40.0, 80.0])

    assert found is not None
    assert found.df == pytest.approx(2.655, abs=0.001)


def test_clusters_of_one_record_each_give_the_plain_t_interval() -> None:
    values = [0.2, 0.9, 0.4, 0.7]

    assert ends(clustered_t(values, [1.0] * 4, 0.95)) == pytest.approx(
        ends(student_t(4, fmean(values), variance(values), 0.95)), rel=1e-12
    )


def test_an_origin_keeps_the_digits_in_which_values_far_from_zero_differ() -> None:
    sums, counts = [0.25, 0.5, 1.0, -0.5], [2.0, 1.0, 3.0, 1.0]
    low, high = ends(clustered_t(sums, counts, 0.95))

    assert ends(clustered_t(sums, counts, 0.95, origin=1e9)) == pytest.approx((low + 1e9, high + 1e9), abs=2e-7)


def test_fewer_than_two_clusters_give_no_interval() -> None:
    assert clustered_t([12.0], [40.0], 0.95) is None
    assert clustered_t([], [], 0.95) is None
    assert clustered_wilson([12.0], [40.0], 0.95) is None
    assert clustered_wilson([], [], 0.95) is None


def test_clusters_with_the_same_mean_up_to_rounding_give_no_interval() -> None:
    assert clustered_t([0.1 + 0.2, 0.3, 0.15 * 2], [2.0, 2.0, 2.0], 0.95) is None


def test_two_records_whose_three_trials_all_pass_do_not_yield_certainty() -> None:
    interval = clustered_wilson([3.0, 3.0], [3.0, 3.0], 0.95)

    assert ends(interval) == pytest.approx(ends(wilson(2, 2, 0.95)))
    assert interval is not None
    assert interval.method == "clustered-wilson"
    assert interval.low < 0.35


def test_clusters_that_all_pass_all_fail_or_agree_count_as_one_record_each() -> None:
    assert ends(clustered_wilson([0.0] * 8, [5.0] * 8, 0.95)) == pytest.approx(ends(wilson(0, 8, 0.95)))
    assert ends(clustered_wilson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.95)) == pytest.approx(ends(wilson(1.5, 3, 0.95)))


def test_clustered_wilson_uses_the_effective_sample_size_of_korn_and_graubard() -> None:
    # Shares 2/3, 2/2, 0/4, 1/1: an error of 0.2924310 with 2.392405 degrees of freedom, whose t is 3.692342 (scipy):
    # n_eff = 0.25 / 0.2924310**2 * (1.959964 / 3.692342)**2, and Wilson's interval for half of that.
    passed, counts = [2.0, 2.0, 0.0, 1.0], [3.0, 2.0, 4.0, 1.0]
    error, df = by_definition(counts, [*[0.5, 0.5, -0.5], 0.5, 0.5, *[-0.5] * 4, 0.5])
    effective_n = 0.25 / error**2 * float(stats.norm.isf(0.025) / stats.t.isf(0.025, df)) ** 2

    assert ends(clustered_wilson(passed, counts, 0.95)) == pytest.approx(
        ends(wilson(effective_n / 2, effective_n, 0.95)), abs=1e-9
    )


cluster_lists = st.lists(
    st.integers(1, 9).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))), min_size=2, max_size=40
)


@given(cluster_lists, st.floats(0.5, 0.999))
def test_clustered_wilson_always_has_a_width_and_is_never_narrower_than_wilson_without_clusters(
    clusters: list[tuple[int, int]], level: float
) -> None:
    passed, counts = [float(p) for p, _ in clusters], [float(n) for _, n in clusters]
    low, high = ends(clustered_wilson(passed, counts, level))
    plain_low, plain_high = ends(wilson(sum(passed), sum(counts), level))

    assert 0 <= low < high <= 1
    assert high - low >= (plain_high - plain_low) * (1 - 1e-9)


def correlated_clusters(draw: random.Random, clusters: int, share: float) -> tuple[list[float], list[float]]:
    """Five verdicts a cluster, whose own share varies around the true one (intra-cluster correlation 0.2)."""
    own_shares = [draw.betavariate(share * 4, (1 - share) * 4) for _ in range(clusters)]
    return [float(sum(draw.random() < own for _ in range(5))) for own in own_shares], [5.0] * clusters


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_clustered_wilson_covers_the_true_share_of_correlated_records_where_wilson_does_not(share: float) -> None:
    draw = random.Random(4)
    samples = [correlated_clusters(draw, 40, share) for _ in range(2_000)]

    def coverage(intervals: Sequence[Interval | None]) -> float:
        return sum(ends(interval)[0] <= share <= ends(interval)[1] for interval in intervals) / len(intervals)

    assert 0.92 < coverage([clustered_wilson(passed, counts, 0.95) for passed, counts in samples]) < 0.98
    assert coverage([wilson(sum(passed), sum(counts), 0.95) for passed, counts in samples]) < 0.90


def test_clustered_t_covers_the_true_mean_of_correlated_numbers() -> None:
    draw = random.Random(5)
    hits = 0
    for _ in range(2_000):
        levels = [draw.gauss(3, 1) for _ in range(15)]
        sums = [sum(draw.gauss(own, 1) for _ in range(4)) for own in levels]
        low, high = ends(clustered_t(sums, [4.0] * 15, 0.95))
        hits += low <= 3 <= high

    assert hits / 2_000 == pytest.approx(0.95, abs=0.015)  # three standard errors


# CR1 with 19 degrees of freedom held the true mean of these in 0.75 of the samples, and the true share in 0.77.
def test_clusters_of_very_unequal_sizes_are_covered_too() -> None:
    counts = [1.0] * 15 + [5.0, 10.0, 20.0, 40.0, 80.0]
    draw = random.Random(6)
    numbers = shares = 0
    for _ in range(1_000):
        sums = [count * draw.gauss(0, 1) + math.sqrt(count) * draw.gauss(0, 1) for count in counts]
        low, high = ends(clustered_t(sums, counts, 0.95))
        numbers += low <= 0 <= high
        passes = [
            float(sum(draw.random() < own for _ in range(int(count))))
            for count in counts
            for own in [draw.betavariate(1.5, 1.5)]
        ]
        low, high = ends(clustered_wilson(passes, counts, 0.95))
        shares += low <= 0.5 <= high

    assert numbers / 1_000 > 0.91
    assert shares / 1_000 > 0.91


# numpy 2.4: numpy.percentile(range(1, 101) squared, [2.5, 97.5])
def test_the_percentile_interval_cuts_the_same_share_off_both_ends() -> None:
    interval = percentile_interval([float(n * n) for n in range(100, 0, -1)], 0.95)

    assert ends(interval) == pytest.approx((12.325, 9511.375))
    assert interval is not None
    assert interval.method == "bootstrap"


def test_replicates_too_few_to_have_one_beyond_each_end_give_no_interval() -> None:
    values = [float(n) for n in range(40)]

    assert percentile_interval(values[:39], 0.95) is None
    assert percentile_interval(values, 0.95) is not None
    assert percentile_interval([], 0.95) is None


def test_replicates_that_agree_give_no_interval_and_those_that_failed_are_refused() -> None:
    assert percentile_interval([0.25] * 500, 0.95) is None
    with pytest.raises(ValueError, match="NaN or infinite"):
        percentile_interval([0.1] * 50 + [math.nan], 0.95)
