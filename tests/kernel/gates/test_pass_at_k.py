"""pass@k and pass^k against brute force over all draws, both conventions for errors, and intervals with a width."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.gates.pass_at_k import (
    PassAtK,
    Trial,
    metric_parts,
    pass_at_k,
    pass_hat_k,
    succeeded,
    wanted_ks,
)
from evalsi_kernel.scores.intervals import clustered_wilson
from evalsi_kernel.scores.summaries import Summary


def summed_up(records: list[list[Trial]], *ks: int) -> dict[str, Summary]:
    fold = PassAtK("solved", "solver", ks)
    for number, trials in enumerate(records):
        for trial in trials:
            fold.add(f"r{number}", trial)
    return {one.metric: one for one in fold.summaries()}


@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=8), k=st.integers(1, 8))
def test_the_estimates_are_the_shares_of_all_draws_of_k_trials(outcomes: list[bool], k: int) -> None:
    draws = list(itertools.combinations(outcomes, k))
    n, passed = len(outcomes), sum(outcomes)
    if not draws:
        assert pass_at_k(n, passed, k) is None
        assert pass_hat_k(n, passed, k) is None
        return
    assert pass_at_k(n, passed, k) == pytest.approx(float(Fraction(sum(map(any, draws)), len(draws))), abs=1e-12)
    assert pass_hat_k(n, passed, k) == pytest.approx(float(Fraction(sum(map(all, draws)), len(draws))), abs=1e-12)


@given(n=st.integers(1, 1000), data=st.data())
def test_pass_hat_k_is_at_most_the_share_of_passes_and_pass_at_k_at_least(n: int, data: st.DataObject) -> None:
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    at, hat = pass_at_k(n, passed, k), pass_hat_k(n, passed, k)

    assert at is not None
    assert hat is not None
    assert 0.0 <= hat <= passed / n + 1e-12
    assert passed / n - 1e-12 <= at <= 1.0


# Reported fault open-12: pass@k was 1.0 for tasks without a correct sample when k exceeds the samples that were scored.
@pytest.mark.parametrize(
    ("trials", "k", "expected", "errors_as_failures"),
    [
        (["failed"] * 3, 5, None, None),
        (["failed", "error", "error", "error"], 2, None, 0.0),
        (["passed", "failed", "failed", "passed", "failed", "failed"], 3, 0.8, 0.8),
        (["passed", "failed", "failed", "failed"], 2, 0.5, 0.5),
    ],
)
def test_pass_at_k_of_fewer_trials_than_k_is_undefined_and_never_1(
    trials: list[Trial], k: int, expected: float | None, errors_as_failures: float | None
) -> None:
    found = summed_up([trials], k)

    assert found[f"solved.pass@{k}"].mean == (None if expected is None else pytest.approx(expected))
    other = found.get(f"solved.pass@{k} (errors as failures)", found[f"solved.pass@{k}"])
    assert other.mean == (None if errors_as_failures is None else pytest.approx(errors_as_failures))


def test_twelve_records_of_one_trial_are_not_one_record_of_twelve() -> None:
    records: list[list[Trial]] = [["passed"], ["failed"]]
    found = summed_up(records[:1] * 5 + records[1:] * 7, 1, 10)

    assert found["solved.pass@1"].mean == pytest.approx(0.4167, abs=5e-5)
    assert found["solved.pass@10"].mean is None
    assert found["solved.pass@10"].n == 0
    assert found["solved.pass@10"].skipped == 12


# Reported fault open-13: partial rewards were added up and cut, so that two half successes counted as one.
def test_parts_of_a_success_are_none() -> None:
    rewards = [0.5, 0.5, 1.0, 0.0]
    trials: list[Trial] = ["passed" if succeeded(reward) else "failed" for reward in rewards]

    found = summed_up([trials], 1, 2)

    assert trials.count("passed") == 1
    assert found["solved.pass^1"].mean == 0.25
    assert found["solved.pass^2"].mean == 0.0
    assert found["solved.pass@2"].mean == 0.5


def test_a_success_bears_rounding_and_no_more() -> None:
    assert succeeded(1 - 1e-7)
    assert not succeeded(1 - 1e-5)


def test_both_conventions_are_given_only_where_they_differ() -> None:
    without = summed_up([["passed", "failed"], ["passed", "passed"]], 2)
    with_error = summed_up([["passed", "failed", "error"], ["passed", "passed", "passed"]], 2)

    assert list(without) == ["solved.pass@2", "solved.pass^2"]
    assert with_error["solved.pass^2"].mean == pytest.approx((0 + 1) / 2)
    assert with_error["solved.pass@2"].mean == 1.0
    assert with_error["solved.pass@2 (errors as failures)"].mean == pytest.approx((2 / 3 + 1) / 2)
    assert "solved.pass^2 (errors as failures)" not in with_error


def test_a_skipped_trial_is_no_trial_in_either_convention() -> None:
    found = summed_up([["passed", "skipped", "passed"]], 2, 3)

    assert found["solved.pass^2"].mean == 1.0
    assert (found["solved.pass^3"].n, found["solved.pass^3"].skipped) == (0, 1)
    assert "solved.pass^3 (errors as failures)" not in found


def test_a_record_without_enough_trials_is_counted_by_what_is_missing() -> None:
    records: list[list[Trial]] = [
        ["passed", "passed"],
        ["passed", "error"],
        ["passed", "skipped"],
        ["passed", "cancelled"],
    ]
    found = summed_up(records, 2)["solved.pass@2"]

    assert (found.n, found.errors, found.skipped, found.cancelled) == (1, 1, 1, 1)


# The task's own example: two records with three passing trials each must not yield the interval [1, 1].
def test_two_records_whose_trials_all_pass_have_a_wide_interval() -> None:
    found = summed_up([["passed"] * 3] * 2, 1, 3)

    for name in ("solved.pass@1", "solved.pass^3", "solved.pass@3"):
        interval = found[name].ci
        assert interval is not None
        assert (interval.high, interval.method) == (1.0, "wilson")
        assert interval.low == pytest.approx(0.3424, abs=5e-5)


@given(
    records=st.lists(st.lists(st.sampled_from(["passed", "failed", "error", "skipped"]), min_size=1, max_size=5)),
    k=st.integers(1, 5),
)
def test_every_interval_has_a_width_within_0_and_1_around_its_mean(records: list[list[Trial]], k: int) -> None:
    for found in summed_up(records, k).values():
        if found.mean is None:
            assert (found.n, found.ci) == (0, None)
            continue
        assert found.ci is not None
        assert 0.0 <= found.ci.low < found.ci.high <= 1.0
        assert found.ci.low - 1e-9 <= found.mean <= found.ci.high + 1e-9


@given(
    records=st.lists(st.lists(st.sampled_from(["passed", "failed", "error"]), min_size=1, max_size=4), max_size=8),
    order=st.randoms(use_true_random=False),
)
def test_the_order_of_records_and_trials_changes_nothing(records: list[list[Trial]], order: random.Random) -> None:
    shuffled = [order.sample(trials, len(trials)) for trials in order.sample(records, len(records))]

    assert summed_up(records, 1, 2) == summed_up(shuffled, 1, 2)


def test_fractions_without_a_spread_get_an_interval_as_wide_as_of_passes() -> None:
    found = summed_up([["passed", "failed"]] * 4, 1)["solved.pass@1"]

    assert found.mean == 0.5
    assert found.ci is not None
    assert (found.ci.low, found.ci.high) == pytest.approx((0.15, 0.85), abs=0.001)


@pytest.mark.parametrize("passes", [[2, 1, 0], [3, 3, 3, 2], [0, 0, 0, 0, 0, 0, 1], [3, 1, 2, 0, 3, 3]])
def test_of_one_trial_it_is_the_interval_of_the_metric_itself(passes: list[int]) -> None:
    records: list[list[Trial]] = [["passed" if trial < count else "failed" for trial in range(3)] for count in passes]
    found = summed_up(records, 1)["solved.pass@1"]

    assert found.ci is not None
    trials = clustered_wilson([float(count) for count in passes], [3.0] * len(passes), 0.95)
    assert trials is not None
    assert (found.ci.low, found.ci.high) == pytest.approx((trials.low, trials.high), rel=1e-9)
    assert found.ci.method == "clustered-wilson"


# Student's t held the true pass@3 of 0.993 in 0.72 of such samples, since few fractions below 1 have hardly a spread.
def test_the_interval_of_fractions_holds_near_1_too() -> None:
    draw = random.Random(9)
    true = 1 - fmean((1 - draw.betavariate(5, 0.5)) ** 3 for _ in range(100_000))
    hits = 0
    for _ in range(300):
        records: list[list[Trial]] = []
        for _ in range(50):
            own = draw.betavariate(5, 0.5)
            records.append(["passed" if draw.random() < own else "failed" for _ in range(10)])
        found = summed_up(records, 3)["solved.pass@3"]
        assert found.ci is not None
        hits += found.ci.low <= true <= found.ci.high

    assert hits / 300 > 0.93


def test_records_in_clusters_widen_the_interval() -> None:
    apart, together = PassAtK("solved", "solver", [2]), PassAtK("solved", "solver", [2])
    for number in range(40):
        outcome: Trial = "passed" if number % 4 else "failed"
        for _ in range(2):
            apart.add(f"r{number}", outcome)
            together.add(f"r{number}", outcome, f"c{number % 4}")

    one, other = apart.summaries()[0], together.summaries()[0]
    assert one.mean == other.mean == 0.75
    assert one.ci is not None
    assert other.ci is not None
    assert (one.ci.method, other.ci.method, one.clusters, other.clusters) == ("wilson", "clustered-wilson", None, 4)
    expected = clustered_wilson([0.0, 10.0, 10.0, 10.0], [10.0] * 4, 0.95)
    assert expected is not None
    assert (other.ci.low, other.ci.high) == pytest.approx((expected.low, expected.high))
    assert other.ci.high - other.ci.low > 2 * (one.ci.high - one.ci.low)


def test_names_are_taken_apart_at_their_end() -> None:
    assert metric_parts("a.pass@3") == ("a", "@", 3)
    assert metric_parts("a.pass@2.pass^10") == ("a.pass@2", "^", 10)
    assert metric_parts("a.pass@3 (errors as failures)") == ("a", "@", 3)
    for other in ("a", "a.pass", "a.pass@0", "a.pass@03", "a.pass@x", ".pass@1", "a.pass@1b"):
        assert metric_parts(other) is None


def test_k_is_the_number_of_trials_and_what_gates_name() -> None:
    assert wanted_ks("a", ["a.pass@2", "b.pass@7", "a"], 3) == [2, 3]
    assert wanted_ks("a", ["a"], 1) == []
    assert wanted_ks("a", ["a.pass^1"], 1) == [1]


def test_a_k_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="counts trials"):
        PassAtK("a", "a", [0])
