"""What a summary says of a metric, fed chunk by chunk."""

import json
import math
import random
import subprocess
import sys
import tracemalloc
from array import array
from statistics import fmean, stdev

import pytest

from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.scores.intervals import Interval, clustered_t, clustered_wilson, student_t, wilson
from evalsi_kernel.scores.summaries import MetricAccumulator, Summary

PASS, NUMBER, LABEL = OutputInfo(kind="pass"), OutputInfo(kind="number"), OutputInfo(kind="label")


class WholeRange:
    """An interval method that writes down what it was asked and answers with the range of the units' means."""

    name = "range"

    def __init__(self) -> None:
        self.asked: list[tuple[list[float], list[float], float, int]] = []

    def interval(self, sums: "array[float]", counts: "array[float]", level: float, seed: int) -> Interval | None:
        self.asked.append((list(sums), list(counts), level, seed))
        means = [total / count for total, count in zip(sums, counts, strict=True)]
        return Interval(min(means), max(means), level, self.name) if min(means) < max(means) else None


def passes(values: list[bool], clusters: list[str] | None = None, level: float = 0.95) -> MetricAccumulator:
    metric = MetricAccumulator("exact-match", "exact-match", PASS, level=level, clustered=clusters is not None)
    metric.add(values, clusters)
    return metric


def numbers(
    values: list[float], clusters: list[str] | None = None, *, keep_values: bool = False, maximum: float | None = None
) -> MetricAccumulator:
    output = OutputInfo(kind="number", maximum=maximum)
    metric = MetricAccumulator("score", "judge", output, clustered=clusters is not None, keep_values=keep_values)
    metric.add(values, clusters)
    return metric


def test_the_three_rows_of_the_readme_come_out_to_their_last_digit() -> None:
    exact, numeric = passes([True, True, False, False, False, False]), passes([True, False, True])
    latency = numbers([235, 250, 550, 580, 700, 790])

    rows = [
        (summary.n, round(summary.mean, 3), round(summary.ci.low, 3), round(summary.ci.high, 3))
        for summary in (exact.summary(), numeric.summary(), latency.summary())
        if summary.mean is not None
        if summary.ci is not None
    ]
    assert rows == [(6, 0.333, 0.097, 0.7), (3, 0.667, 0.208, 0.939), (6, 517.5, 276.409, 758.591)]


def test_verdicts_that_come_in_chunks_are_one_sample() -> None:
    metric = passes([True, False, True])
    metric.add([])
    metric.add([False, True])
    summary = metric.summary()

    assert (summary.n, summary.mean) == (5, 0.6)
    assert summary.std == pytest.approx(stdev([1, 0, 1, 0, 1]))
    assert summary.ci == wilson(3, 5, 0.95)


def test_numbers_that_come_in_chunks_are_one_sample() -> None:
    draw = random.Random(1)
    values = [draw.random() for _ in range(1000)]
    metric = numbers(values[:400])
    metric.add(array("d", values[400:999]))
    metric.add(values[999:])
    summary = metric.summary()

    assert (summary.n, summary.mean) == (1000, fmean(values))
    assert summary.std == pytest.approx(stdev(values), rel=1e-13)
    assert summary.ci is not None
    assert summary.ci.method == "t"


def test_a_summary_may_be_taken_at_any_time_and_more_added_after_it() -> None:
    metric = passes([True])
    first = metric.summary()
    metric.add([False])

    assert (first.n, metric.summary().n) == (1, 2)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_refused_before_it_touches_the_sample(bad: float) -> None:
    metric = numbers([0.5, 0.7])
    before = metric.summary()

    with pytest.raises(ValueError, match="error of its record"):
        metric.add([0.9, bad])
    assert metric.summary() == before


# Reported fault open-15: the mean was unweighted, its standard error the size-weighted one.
def test_mean_and_interval_are_of_the_same_estimator_and_subsets_can_be_averaged_with_their_own_error() -> None:
    small, large = [True] * 16 + [False] * 4, [True] * 120 + [False] * 280
    pooled = passes(small + large).summary()
    subsets = [passes(small).summary(), passes(large).summary()]

    assert pooled.mean == pytest.approx(0.3238, abs=5e-5)
    assert pooled.ci == wilson(136, 420, 0.95)
    assert pooled.std is not None
    assert pooled.std / math.sqrt(pooled.n) == pytest.approx(0.0229, abs=5e-5)
    means = [subset.mean for subset in subsets if subset.mean is not None]
    errors = [subset.std / math.sqrt(subset.n) for subset in subsets if subset.std is not None]
    assert fmean(means) == pytest.approx(0.55)
    assert errors == pytest.approx([0.0918, 0.0229], abs=5e-5)
    assert math.hypot(*errors) / 2 == pytest.approx(0.0473, abs=5e-5)


def test_a_metric_with_nothing_scored_has_no_mean_and_no_interval() -> None:
    for output in (PASS, NUMBER, LABEL):
        summary = MetricAccumulator("m", "e", output).summary()

        assert (summary.n, summary.mean, summary.std, summary.ci) == (0, None, None, None)


def test_one_number_has_a_mean_and_no_interval_and_one_verdict_has_both() -> None:
    assert (numbers([4.0]).summary().mean, numbers([4.0]).summary().ci) == (4.0, None)
    assert passes([True]).summary().ci == wilson(1, 1, 0.95)


def test_equal_numbers_get_no_interval_whatever_method_is_asked() -> None:
    values = [0.1] * 7
    method = WholeRange()

    assert numbers(values).summary().ci is None
    assert numbers(values, ["a", "b", "a", "c", "b", "c", "d"]).summary().ci is None
    assert numbers(values, keep_values=True).summary(method).ci is None
    assert (numbers(values).summary().mean, numbers(values).summary().std) == (0.1, 0.0)


def test_the_interval_is_cut_at_the_declared_range() -> None:
    ci = numbers([1.0, 1.0, 0.2], maximum=1.0).summary().ci

    assert ci is not None
    assert ci.high == 1.0


def test_labels_are_counted_the_most_frequent_first_and_have_no_mean() -> None:
    metric = MetricAccumulator("tone", "tone", LABEL)
    metric.add(["polite", "rude", "blunt"])
    metric.add(["rude", "blunt", "rude"])
    summary = metric.summary(WholeRange())

    assert list(summary.labels.items()) == [("rude", 3), ("blunt", 2), ("polite", 1)]
    assert (summary.n, summary.mean, summary.ci) == (6, None, None)


def test_clustered_verdicts_use_the_clustered_interval_and_never_claim_certainty() -> None:
    summary = passes([True] * 6, ["r1", "r2"] * 3).summary()

    assert (summary.mean, summary.clusters, summary.n) == (1.0, 2, 6)
    assert summary.ci == clustered_wilson([3.0, 3.0], [3.0, 3.0], 0.95)
    assert summary.ci is not None
    assert summary.ci.low < summary.ci.high


def test_a_cluster_may_be_spread_over_chunks() -> None:
    metric = numbers([1.0, 2.0, 4.0], ["a", "b", "a"])
    metric.add([8.0, 3.0], ["b", "c"])
    summary = metric.summary()
    expected = clustered_t([5.0, 10.0, 3.0], [2.0, 2.0, 1.0], 0.95)

    assert expected is not None
    assert summary.ci is not None
    assert (summary.ci.low, summary.ci.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert (summary.clusters, summary.n, summary.ci.method) == (3, 5, "clustered-t")


def test_one_cluster_gives_no_interval() -> None:
    assert passes([True, False], ["a", "a"]).summary().ci is None
    assert numbers([1.0, 2.0], ["a", "a"]).summary().ci is None


def test_clusters_keep_the_digits_of_values_far_from_zero() -> None:
    draw = random.Random(8)
    noise = [draw.gauss(0, 1) for _ in range(300)]
    clusters = [f"c{position % 30}" for position in range(300)]
    near, far = numbers(noise, clusters).summary().ci, numbers([1e9 + x for x in noise], clusters).summary().ci

    assert near is not None
    assert far is not None
    assert (far.low - 1e9, far.high - 1e9) == pytest.approx((near.low, near.high), abs=1e-6)


def test_a_method_gets_each_number_as_a_unit_with_the_level_and_a_fixed_seed() -> None:
    method = WholeRange()
    summary = numbers([3.0, 1.0, 2.0], keep_values=True).summary(method)

    assert method.asked == [([3.0, 1.0, 2.0], [1.0, 1.0, 1.0], 0.95, 0)]
    assert summary.ci == Interval(1.0, 3.0, 0.95, "range")


def test_a_method_gets_each_verdict_as_a_unit_without_keeping_them() -> None:
    method = WholeRange()
    passes([True, False, True], level=0.9).summary(method)

    assert method.asked == [([1.0, 1.0, 0.0], [1.0, 1.0, 1.0], 0.9, 0)]


def test_a_method_gets_whole_clusters_as_units() -> None:
    method = WholeRange()
    numbers([3.0, 1.0, 2.0, 5.0], ["a", "b", "a", "b"]).summary(method)
    passes([True, False, True], ["x", "x", "y"]).summary(method)

    assert [(sums, counts) for sums, counts, _, _ in method.asked] == [
        ([5.0, 6.0], [2.0, 2.0]),
        ([1.0, 1.0], [2.0, 1.0]),
    ]


def test_where_a_method_finds_no_spread_verdicts_fall_back_on_wilson_and_say_so() -> None:
    plain, clustered = passes([True] * 5), passes([False] * 4, ["a", "b", "a", "b"])

    assert plain.summary(WholeRange()).ci == Interval(wilson(5, 5, 0.95).low, 1.0, 0.95, "wilson (range gives none)")
    fallback = clustered.summary(WholeRange()).ci
    assert fallback is not None
    assert fallback.method == "clustered-wilson (range gives none)"
    assert (fallback.low, fallback.high) == (0.0, wilson(0, 2, 0.95).high)


def test_numbers_that_were_not_kept_cannot_be_resampled_and_the_error_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="keep_values=True"):
        numbers([1.0, 2.0]).summary(WholeRange())


@pytest.mark.parametrize("clusters", [None, ["a"], ["a", "b", "c"]])
def test_a_clustered_metric_needs_one_cluster_for_each_value(clusters: list[str] | None) -> None:
    metric = MetricAccumulator("m", "e", PASS, clustered=True)

    with pytest.raises(ValueError, match="cluster"):
        metric.add([True, False], clusters)
    assert metric.summary().n == 0


def test_clusters_given_to_a_metric_that_ignores_them_are_refused() -> None:
    with pytest.raises(ValueError, match="only a clustered one"):
        passes([]).add([True], ["a"])


def test_a_level_that_cannot_be_is_refused_before_any_score() -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        MetricAccumulator("m", "e", PASS, level=95)


def test_a_summary_is_json_with_every_key_present_also_those_that_are_zero_or_unknown() -> None:
    metric = MetricAccumulator("latency", "latency", NUMBER._replace(unit="ms", higher_is_better=False))
    empty = json.loads(json.dumps(metric.summary().to_dict(), allow_nan=False))
    assert empty == {
        "metric": "latency",
        "evaluator": "latency",
        "kind": "number",
        "n": 0,
        "mean": None,
        "std": None,
        "skipped": 0,
        "errors": 0,
        "cancelled": 0,
        "ci": None,
        "labels": {},
        "unit": "ms",
        "higher_is_better": False,
        "clusters": None,
        "judge": None,
    }
    assert passes([False] * 25).summary().to_dict()["ci"] == {
        "low": 0.0,
        "high": pytest.approx(0.1332, abs=5e-5),
        "level": 0.95,
        "method": "wilson",
    }


def test_a_dataset_scope_metric_can_be_summarised_with_an_interval_of_its_own() -> None:
    summary = Summary("corpus-bleu", "corpus-bleu", "number", n=3, mean=0.7, ci=Interval(0.5, 0.8, 0.95, "bootstrap"))

    assert summary.to_dict()["ci"]["method"] == "bootstrap"


def test_numbers_beyond_what_floats_can_sum_are_counted_and_leave_valid_json() -> None:
    metric = numbers([1e308, 1e308, -1e308])
    metric.add([1e308, 1e308])
    summary = metric.summary()

    assert (summary.n, summary.mean, summary.std, summary.ci) == (5, None, None, None)
    json.dumps(summary.to_dict(), allow_nan=False)


def test_memory_does_not_grow_with_the_number_of_scores() -> None:
    chunk = [position / 7 for position in range(400)]
    clusters = [f"c{position % 20}" for position in range(400)]
    metrics = [numbers(chunk), numbers(chunk, clusters), passes([True] * 400, clusters)]
    tracemalloc.start()
    try:
        for _ in range(100):
            metrics[0].add(chunk)
            metrics[1].add(chunk, clusters)
            metrics[2].add([True] * 400, clusters)
        grown_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert grown_bytes < 20_000


def test_the_default_interval_of_numbers_is_students() -> None:
    values = [0.4, 0.9, 0.1]
    summary = numbers(values).summary()

    assert summary.std is not None
    assert summary.mean is not None
    assert summary.ci == student_t(3, summary.mean, summary.std**2, 0.95)


def test_importing_the_statistics_of_the_kernel_loads_no_heavy_module() -> None:
    code = "import sys; there = {*sys.modules}; import evalsi_kernel.scores.summaries; print(*{*sys.modules} - there)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    loaded = {name.partition(".")[0] for name in answer.stdout.split()}
    assert "evalsi_kernel" in loaded
    assert not loaded & {"numpy", "pydantic", "anyio", "statistics", "fractions", "decimal", "random"}
