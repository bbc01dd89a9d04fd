"""The percentile bootstrap: its ends against scipy's, its reproducibility, its coverage and its memory."""

import random
import subprocess
import sys
import tomllib
import tracemalloc
from array import array
from importlib import resources
from statistics import fmean

import pluggy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_bootstrap import plugin
from evalsi_bootstrap.percentile import PercentileBootstrap
from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.scores.intervals import Interval, IntervalMethod, student_t, wilson
from evalsi_kernel.scores.summaries import MetricAccumulator


def bootstrap(
    sums: list[float], counts: list[float] | None = None, level: float = 0.95, seed: int = 0
) -> Interval | None:
    units = array("d", counts or [1.0] * len(sums))
    return PercentileBootstrap().interval(array("d", sums), units, level, seed)


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


# scipy 1.17.1: bootstrap((values,), numpy.mean, n_resamples=200_000, method="percentile") gives [7.8, 18.4]
def test_the_ends_agree_with_scipy_up_to_the_noise_of_two_thousand_resamples() -> None:
    interval = bootstrap([2, 3, 5, 7, 11, 13, 17, 19, 23, 29])

    assert ends(interval) == pytest.approx((7.8, 18.4), abs=0.4)
    assert interval is not None
    assert (interval.level, interval.method) == (0.95, "bootstrap")


def test_many_records_give_the_interval_of_the_central_limit_theorem() -> None:
    draw = random.Random(11)
    values = [draw.expovariate(1.0) for _ in range(20_000)]
    mean = fmean(values)
    expected = student_t(len(values), mean, fmean((value - mean) ** 2 for value in values), 0.95)

    assert ends(bootstrap(values)) == pytest.approx(ends(expected), abs=0.1 * (ends(expected)[1] - ends(expected)[0]))


@pytest.mark.parametrize("distinct", [2, 50], ids=["two distinct values", "fifty distinct values"])
def test_repeated_values_are_drawn_by_their_counts_and_give_the_same_interval_as_drawing_each(distinct: int) -> None:
    draw = random.Random(12)
    values = [float(draw.randrange(distinct)) for _ in range(4_000)]
    # Differences far below the width make all values distinct, so that each is drawn by itself.
    told_apart = [value + position * 1e-9 for position, value in enumerate(values)]
    low, high = ends(bootstrap(values))

    assert ends(bootstrap(told_apart)) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_shares_give_nearly_wilsons_interval_when_there_are_many() -> None:
    values = [1.0] * 70_000 + [0.0] * 30_000

    assert ends(bootstrap(values)) == pytest.approx(ends(wilson(70_000, 100_000, 0.95)), abs=5e-4)


def test_whole_clusters_are_resampled_so_correlated_records_get_a_wider_interval() -> None:
    draw = random.Random(13)
    own = [draw.gauss(0, 1) for _ in range(60)]
    records = [[level + draw.gauss(0, 0.1) for _ in range(10)] for level in own]
    low, high = ends(bootstrap([sum(cluster) for cluster in records], [10.0] * 60))
    flat_low, flat_high = ends(bootstrap([value for cluster in records for value in cluster]))

    assert high - low > 2.5 * (flat_high - flat_low)


def test_clusters_of_unequal_size_weigh_by_their_records() -> None:
    sums, counts = [90.0, 1.0, 2.0, 3.0, 5.0, 4.0], [90.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    low, high = ends(bootstrap(sums, counts))

    assert low <= sum(sums) / sum(counts) <= high
    assert min(s / c for s, c in zip(sums, counts, strict=True)) <= low
    assert high <= max(s / c for s, c in zip(sums, counts, strict=True))


@pytest.mark.parametrize("clustered", [False, True])
def test_the_same_units_in_any_order_give_the_same_interval(clustered: bool) -> None:
    draw = random.Random(14)
    units = [(draw.random(), float(draw.randint(1, 4)) if clustered else 1.0) for _ in range(500)]
    shuffled = random.Random(15).sample(units, len(units))

    assert bootstrap([s for s, _ in units], [c for _, c in units]) == bootstrap(
        [s for s, _ in shuffled], [c for _, c in shuffled]
    )


def test_another_seed_gives_another_interval_and_the_same_seed_the_same() -> None:
    values = [1.0, 4.0, 9.0, 16.0, 25.0, 36.5]

    assert bootstrap(values, seed=1) == bootstrap(values, seed=1)
    assert bootstrap(values, seed=1) != bootstrap(values, seed=2)


def test_values_far_from_zero_keep_the_digits_in_which_they_differ() -> None:
    noise = [0.125 * position for position in range(40)]
    low, high = ends(bootstrap(noise))

    assert ends(bootstrap([1e9 + value for value in noise])) == pytest.approx((1e9 + low, 1e9 + high), abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_an_interval_of_shares_stays_between_those_of_the_clusters_and_has_a_width(
    clusters: list[tuple[int, int]], level: float
) -> None:
    interval = bootstrap([float(p) for p, _ in clusters], [float(n) for _, n in clusters], level)
    shares = [passed / n for passed, n in clusters]

    if interval is not None:
        assert min(shares) <= interval.low < interval.high <= max(shares)
    if len(set(shares)) == 1:
        assert interval is None


@pytest.mark.parametrize("values", [[], [3.0], [0.7] * 30, [1.0] * 5])
def test_units_without_spread_give_no_interval(values: list[float]) -> None:
    assert bootstrap(values) is None


def test_a_level_that_two_thousand_resamples_cannot_place_gives_no_interval() -> None:
    values = [1.0, 2.0, 4.0, 8.0]

    assert bootstrap(values, level=0.999) is not None
    assert bootstrap(values, level=0.9995) is None


@pytest.mark.parametrize(
    ("clusters", "method", "low"),
    [
        (None, "wilson (bootstrap gives none)", wilson(6, 6, 0.95).low),
        (["r1", "r2"] * 3, "clustered-wilson (bootstrap gives none)", wilson(2, 2, 0.95).low),
    ],
)
def test_an_all_pass_sample_is_shown_with_wilsons_interval_and_says_so(
    clusters: list[str] | None, method: str, low: float
) -> None:
    metric = MetricAccumulator("exact-match", "exact-match", OutputInfo(kind="pass"), clustered=clusters is not None)
    metric.add([True] * 6, clusters)

    assert metric.summary(PercentileBootstrap()).ci == Interval(low, 1.0, 0.95, method)


def test_equal_numbers_are_shown_without_an_interval() -> None:
    metric = MetricAccumulator("score", "judge", OutputInfo(kind="number"), keep_values=True)
    metric.add([0.3] * 6)

    assert metric.summary(PercentileBootstrap()).ci is None


def test_the_bootstrap_covers_the_mean_of_skewed_numbers_nearly_as_often_as_it_says() -> None:
    """Forty exponential values: about 0.93 is what the percentile method is known to reach at this size."""
    draw = random.Random(16)
    samples = [[draw.expovariate(1.0) for _ in range(40)] for _ in range(400)]
    hits = sum(low <= 1.0 <= high for low, high in (ends(bootstrap(sample)) for sample in samples))

    assert 0.89 < hits / 400 < 0.97


def test_the_clustered_bootstrap_covers_the_mean_of_correlated_numbers_where_the_plain_one_does_not() -> None:
    draw = random.Random(17)
    hits = plain_hits = 0
    for _ in range(300):
        records = [[own + draw.gauss(0, 1) for _ in range(5)] for own in (draw.gauss(0, 1) for _ in range(40))]
        low, high = ends(bootstrap([sum(cluster) for cluster in records], [5.0] * 40))
        hits += low <= 0 <= high
        low, high = ends(bootstrap([value for cluster in records for value in cluster]))
        plain_hits += low <= 0 <= high

    assert 0.89 < hits / 300 < 0.98
    assert plain_hits / 300 < 0.82


@pytest.mark.parametrize("clustered", [False, True])
def test_resampling_takes_no_more_memory_than_thirty_megabytes(clustered: bool) -> None:
    draw = random.Random(18)
    units = 300_000  # more than one block holds
    sums = array("d", [draw.random() for _ in range(units)])
    counts = array("d", [1.0 + position % 3 if clustered else 1.0 for position in range(units)])
    PercentileBootstrap().interval(sums[:3], counts[:3], 0.95, 0)
    tracemalloc.start()
    try:
        PercentileBootstrap(resamples=40).interval(sums, counts, 0.95, 0)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak_bytes < 30_000_000


class IntervalSpec:
    """The hook as the kernel specifies it: the first extension that knows the name answers."""

    @pluggy.HookspecMarker("evalsi")(firstresult=True)
    def evalsi_interval_method(self, name: str) -> IntervalMethod | None:
        """The method of this name."""


def test_the_hook_answers_to_its_own_name_only() -> None:
    hooks = pluggy.PluginManager("evalsi")
    hooks.add_hookspecs(IntervalSpec)
    hooks.register(plugin)

    assert isinstance(hooks.hook.evalsi_interval_method(name="bootstrap"), PercentileBootstrap)
    assert hooks.hook.evalsi_interval_method(name="jackknife") is None


def test_the_extension_file_names_the_module_and_what_it_provides() -> None:
    text = resources.files("evalsi_bootstrap").joinpath("extension.toml").read_text(encoding="utf-8")
    declared = tomllib.loads(text)

    assert (declared["extension"], declared["name"], declared["module"]) == (1, "bootstrap", plugin.__name__)
    assert declared["provides"] == {"intervals": [PercentileBootstrap.name]}


def test_importing_the_plugin_and_asking_for_the_method_imports_no_numpy() -> None:
    code = (
        "import sys; from evalsi_bootstrap.plugin import evalsi_interval_method as find; "
        "assert find('bootstrap'); print('numpy' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert answer.stdout.strip() == "False"
