"""The tests and intervals of paired differences, held to scipy, to what was published, and to their own definitions."""

from __future__ import annotations

import math
import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from evalsi_bootstrap.percentile import PercentileBootstrap
from evalsi_comparison.mcnemar import mcnemar_midp
from evalsi_comparison.paired_tests import means_tested, verdicts_tested
from evalsi_comparison.sample_size import records_for_numbers, records_for_verdicts
from evalsi_comparison.score_interval import score_interval
from evalsi_comparison.student_p import t_two_sided
from evalsi_kernel.scores.holm import holm

COUNTS = st.integers(0, 60)


# -- McNemar -------------------------------------------------------------------------------------------------------


@given(COUNTS, COUNTS)
def test_the_mid_p_value_is_the_exact_one_less_the_chance_of_what_was_seen(lost: int, won: int) -> None:
    changed = lost + won
    expected = 1.0
    if lost != won:
        seen = float(stats.binom.pmf(lost, changed, 0.5))
        expected = float(stats.binomtest(lost, changed, 0.5).pvalue) - seen
    assert mcnemar_midp(lost, won) == pytest.approx(expected, rel=1e-9)


def test_the_mid_p_value_of_the_published_example() -> None:
    # Bentur et al. 2009, as in Fagerland, Lydersen & Laake 2013: 7 and 1 of 21 changed; mid-p 0.0391.
    assert mcnemar_midp(7, 1) == pytest.approx(0.0391, abs=5e-5)


def test_a_million_changes_take_no_time_and_no_digits() -> None:
    assert mcnemar_midp(500_000, 502_000) == pytest.approx(2 * stats.norm.sf(2000 / math.sqrt(1_002_000)), rel=1e-3)
    assert mcnemar_midp(0, 5_000) == pytest.approx(0.0)


# -- Tango ---------------------------------------------------------------------------------------------------------


def test_the_score_interval_of_the_published_example() -> None:
    # The same data, in Fagerland, Lydersen & Laake 2014: Tango's interval of -0.286 is -0.517 to -0.026.
    found = score_interval(7, 1, 21, 0.95)
    assert (found.low, found.high) == pytest.approx((-0.517, -0.026), abs=5e-4)


def statistic_by_search(lost: int, won: int, n: int, difference: float) -> float:
    """The score statistic with the likeliest shares found by a search, not by Tango's formula."""

    def unlikelihood(share_lost: float) -> float:
        share_won = share_lost + difference
        rest = 1 - share_lost - share_won
        counted = ((lost, share_lost), (won, share_won), (n - lost - won, rest))
        return -sum(count * math.log(max(share, 1e-300)) for count, share in counted if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    best = optimize.minimize_scalar(unlikelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * best + difference - difference**2)
    return float((won - lost - n * difference) / math.sqrt(variance))


@pytest.mark.parametrize(("lost", "won", "n"), [(7, 1, 21), (0, 3, 10), (5, 5, 40), (2, 11, 90), (1, 0, 6)])
def test_the_ends_of_the_score_interval_are_the_differences_that_the_score_test_just_bears(
    lost: int, won: int, n: int
) -> None:
    z = float(stats.norm.ppf(0.975))
    found = score_interval(lost, won, n, 0.95)
    assert statistic_by_search(lost, won, n, found.low) == pytest.approx(z, rel=1e-3)
    assert statistic_by_search(lost, won, n, found.high) == pytest.approx(-z, rel=1e-3)


@given(COUNTS, COUNTS, st.integers(0, 200))
def test_a_score_interval_holds_the_difference_is_never_of_zero_width_and_mirrors(
    lost: int, won: int, same: int
) -> None:
    n = lost + won + same
    if not n:
        return
    found, mirrored = score_interval(lost, won, n, 0.95), score_interval(won, lost, n, 0.95)
    assert -1 <= found.low <= (won - lost) / n + 1e-12
    assert (won - lost) / n - 1e-12 <= found.high <= 1
    assert found.high - found.low > 1e-6
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_equal_verdicts_leave_room_that_shrinks_with_their_number() -> None:
    z = float(stats.norm.ppf(0.975))
    for n in (1, 10, 1000):
        found = score_interval(0, 0, n, 0.95)
        assert (found.low, found.high) == pytest.approx((-z * z / (n + z * z), z * z / (n + z * z)))


def test_the_score_interval_covers_what_it_promises_in_small_samples() -> None:
    drawn = random.Random(7)
    for n, lost_share, won_share in ((10, 0.1, 0.1), (20, 0.05, 0.2), (30, 0.02, 0.05)):
        covered, rounds = 0, 400
        for _ in range(rounds):
            draws = [drawn.random() for _ in range(n)]
            lost = sum(one < lost_share for one in draws)
            won = sum(lost_share <= one < lost_share + won_share for one in draws)
            found = score_interval(lost, won, n, 0.95)
            covered += found.low <= won_share - lost_share <= found.high
        assert covered / rounds > 0.92


@pytest.mark.parametrize(("n", "share_changed"), [(20, 0.3), (60, 0.1), (200, 0.05)])
def test_a_change_that_is_none_is_found_no_oftener_than_it_should_be(n: int, share_changed: float) -> None:
    drawn = random.Random(n)
    rounds, found = 3000, 0
    for _ in range(rounds):
        changed = sum(drawn.random() < share_changed for _ in range(n))
        lost = sum(drawn.random() < 0.5 for _ in range(changed))
        found += mcnemar_midp(lost, changed - lost) < 0.05
    assert found / rounds < 0.06


# -- Student -------------------------------------------------------------------------------------------------------


@given(st.floats(-40, 40), st.integers(1, 100_000))
def test_p_values_of_t_are_those_of_scipy(t: float, df: int) -> None:
    expected = float(2 * stats.t.sf(abs(t), df))
    assert t_two_sided(t, df) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=40))
def test_the_paired_t_test_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    base, candidate = zip(*pairs, strict=True)
    differences = [after - before for before, after in pairs]
    if max(differences) - min(differences) < 1e-6:
        return
    found = means_tested(differences, 1.0, 0.95, 0.02, None)
    expected = stats.ttest_rel(candidate, base)
    ends = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(float(expected.pvalue), rel=1e-6)
    assert found.ci is not None
    assert (found.ci.low, found.ci.high) == pytest.approx((ends.low, ends.high), abs=1e-9)


def test_differences_that_are_equal_but_for_rounding_have_no_interval_and_no_certainty() -> None:
    differences = [0.9 - 0.8, 0.4 - 0.3, 0.3 - 0.2, 1.0 - 0.9]
    assert len(set(differences)) > 1
    found = means_tested(differences, 1.0, 0.95, 0.02, None)
    assert (found.ci, found.p, found.test, found.needed) == (None, 0.125, "sign-flip", None)
    assert means_tested([0.0] * 5, 1.0, 0.95, 0.02, None).p == 1.0
    assert means_tested([0.5], 1.0, 0.95, 0.02, None).p is None


# Times in milliseconds since 1970 differ in their thirteenth digit: all that they differed by was taken for rounding.
def test_small_differences_of_large_values_are_no_rounding() -> None:
    draw = random.Random(4)
    base = [1.764e12 + draw.randrange(1000) for _ in range(30)]
    candidate = [value + draw.choice([0, 1]) for value in base]
    found = means_tested(
        [after - before for before, after in zip(base, candidate, strict=True)], 1.764e12, 0.95, None, None
    )
    expected = stats.ttest_rel(candidate, base)
    assert found.p == pytest.approx(float(expected.pvalue), rel=1e-6)
    assert found.p is not None
    assert found.p < 0.001


def test_trials_that_all_agree_leave_as_much_room_as_their_records() -> None:
    # Two records of three trials each, all passing in both runs: two records, not six.
    found = means_tested([0.0, 0.0], 1.0, 0.95, 0.02, None, of_verdicts=True)
    assert found.ci == score_interval(0, 0, 2, 0.95)
    assert found.p == 1.0


def test_clusters_are_what_is_independent() -> None:
    differences = [0.1, 0.1, 0.1, 0.1, -0.2, -0.2, -0.2, -0.2, 0.3, 0.3, 0.3, 0.3]
    alone = means_tested(differences, 1.0, 0.95, 0.02, None)
    together = means_tested(differences, 1.0, 0.95, 0.02, None, clusters=[name * 4 for name in "abc" for _ in range(4)])
    one_each = means_tested([0.1, -0.2, 0.3], 1.0, 0.95, 0.02, None)
    assert alone.ci is not None
    assert together.ci is not None
    assert one_each.ci is not None
    assert together.ci.high - together.ci.low > 2 * (alone.ci.high - alone.ci.low)
    assert together.ci.high == pytest.approx(one_each.ci.high)
    assert together.p == pytest.approx(one_each.p)
    assert together.test == "clustered-paired-t"


def test_another_method_makes_the_interval_where_it_has_one() -> None:
    base = array("d", [1.0, 1, 0, 1, 0, 1, 1, 0] * 5)
    candidate = array("d", [1.0, 0, 0, 1, 1, 0, 1, 0] * 5)
    resampled = verdicts_tested(base, candidate, 0.95, 0.02, PercentileBootstrap())
    usual = verdicts_tested(base, candidate, 0.95, 0.02, None)
    assert resampled.ci is not None
    assert usual.ci is not None
    assert resampled.ci.method == "bootstrap"
    assert resampled.ci.low == pytest.approx(usual.ci.low, abs=0.05)
    assert resampled.p == usual.p
    nothing = verdicts_tested(base, base, 0.95, 0.02, PercentileBootstrap())
    assert nothing.ci is not None
    assert nothing.ci.method == "tango (bootstrap gives none)"


# -- Holm, and how many records ------------------------------------------------------------------------------------


def test_holm_adjusts_as_he_says() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_an_adjusted_value_is_no_smaller_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    by_size = [one for _, one in sorted(zip(p_values, adjusted, strict=True))]
    assert by_size == sorted(by_size)


def test_so_many_records_find_a_change_of_verdicts_four_times_out_of_five() -> None:
    # One in ten changes; a change of five points: Connor's formula, then counted in simulated runs of that size.
    n = records_for_verdicts(100, 1000, 0.05, 0.95)
    assert n == 312
    drawn = random.Random(3)
    found, rounds = 0, 600
    for _ in range(rounds):
        draws = [drawn.random() for _ in range(n)]
        lost, won = sum(one < 0.075 for one in draws), sum(0.075 <= one < 0.1 for one in draws)
        found += mcnemar_midp(lost, won) < 0.05
    assert 0.74 < found / rounds < 0.86


def test_so_many_records_find_a_change_of_numbers_four_times_out_of_five() -> None:
    # A standard error of 0.01 over 400 records is a spread of 0.2; two points need (1.96 + 0.84)² 0.2² / 0.02².
    assert records_for_numbers(0.01, 400, 0.02, 0.95) == 785
    assert records_for_numbers(0.0, 400, 0.02, 0.95) is None
    assert records_for_verdicts(0, 400, 0.02, 0.95) is None
