"""How many trials a run would need: against what many runs with as many trials really do, and as a user meets it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalsi_comparison.trial_advice import MARGINS, Advice
from evalsi_comparison.trial_spread import TrialSpread
from evalsi_runs.trials_told import trials_line
from tests.providers import Provider, Request, faults, fixed
from tests.runs.running import executed, model_of, records, results, run, write_spec

UNIT = {"m": (0.0, 1.0)}


def told(values: list[list[float]], ranges: Any = UNIT, level: float = 0.95, trials: int = 0) -> Any:
    """The advice from the trials of some records."""
    advice = Advice(ranges, (), trials or max(map(len, values)), level)
    for number, of_record in enumerate(values):
        for value in of_record:
            advice.add_trial("m", f"r{number}", value)
    return advice.told()


def of(values: list[list[float]], **how: Any) -> dict[str, Any]:
    [metric] = told(values, **how)["metrics"]
    found: dict[str, Any] = metric
    return found


def passes(draw: random.Random, chances: list[float], trials: int) -> list[list[float]]:
    return [[float(draw.random() < chance) for _ in range(trials)] for chance in chances]


# -- the numbers ---------------------------------------------------------------------------------------------------


def test_so_many_trials_hold_the_mean_of_the_same_records_within_the_margin() -> None:
    draw = random.Random(1)
    chances = [draw.random() for _ in range(40)]
    truth = fmean(chances)
    needed = of(passes(draw, chances, 4))["trials_for_margin"]["0.05"]
    means = [fmean(map(fmean, passes(draw, chances, needed))) for _ in range(400)]
    within = fmean(abs(mean - truth) <= 0.05 for mean in means)
    assert within >= 0.95
    # Not many times what is needed either: with a fourth of them the margin is not held.
    fewer = [fmean(map(fmean, passes(draw, chances, max(1, needed // 4)))) for _ in range(400)]
    assert fmean(abs(mean - truth) <= 0.05 for mean in fewer) < 0.95


def test_the_variance_within_records_is_estimated_without_bias_and_its_limit_holds_as_often_as_it_says() -> None:
    draw = random.Random(2)
    chances = [draw.random() for _ in range(30)]
    truth = fmean(chance * (1 - chance) for chance in chances)
    found = [of(passes(draw, chances, 3)) for _ in range(600)]
    assert fmean(one["within_variance"] for one in found) == pytest.approx(truth, rel=0.03)
    assert fmean(one["within_variance_limit"] >= truth for one in found) >= 0.93


def test_what_the_choice_of_records_leaves_is_what_is_left_of_the_spread_of_their_means() -> None:
    draw = random.Random(3)
    chances = [draw.choice([0.1, 0.9]) for _ in range(3000)]
    found = of(passes(draw, chances, 3))
    assert found["record_margin"] == pytest.approx(1.96 * (pvariance(chances) / 3000) ** 0.5, rel=0.05)


def test_numbers_are_reckoned_in_their_range_or_else_in_their_spread() -> None:
    draw = random.Random(4)
    values = [[mean + draw.gauss(0, 10) for _ in range(3)] for mean in (100.0, 200.0, 300.0, 400.0, 500.0)]
    ranged, open_ended = of(values, ranges={"m": (0.0, 1000.0)}), of(values, ranges={})
    assert ranged["scale"] == 1000.0
    assert open_ended["scale"] == pytest.approx((25_000 + 100) ** 0.5, rel=0.02)
    assert ranged["trial_margin"] == open_ended["trial_margin"]
    assert ranged["trials_for_margin"]["0.01"] < open_ended["trials_for_margin"]["0.01"]


def test_passes_of_an_evaluator_that_declares_nothing_have_the_range_from_0_to_1() -> None:
    assert of([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], ranges={})["scale"] == 1.0


def test_one_record_says_little_and_no_more_is_claimed() -> None:
    verdicts = of([[1.0, 0.0, 1.0]])
    assert verdicts["within_variance_limit"] == 0.25
    assert verdicts["record_margin"] is None
    numbers = of([[0.5, 0.7]])
    assert (numbers["within_variance_limit"], numbers["trial_margin"], numbers["trials_for_margin"]) == (None, None, {})
    assert trials_line(told([[0.5, 0.7]])) == ""


def test_records_that_were_scored_once_count_as_records_and_tell_nothing_of_trials() -> None:
    found = of([[1.0, 0.0], [1.0], [0.0, 0.0], [1.0]])
    assert (found["records"], found["records_with_trials"]) == (4, 2)
    assert told([[1.0], [0.0]], trials=3) is None
    assert Advice(UNIT, (), 3, 0.95).told() is None


VALUES = st.lists(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=4), min_size=1, max_size=8)


@given(VALUES)
def test_narrower_margins_need_no_fewer_trials_and_nothing_is_told_that_is_no_number(values: list[list[float]]) -> None:
    advice = told(values, trials=4)
    json.dumps(advice, allow_nan=False)
    for metric in [] if advice is None else advice["metrics"]:
        needed = [metric["trials_for_margin"][f"{margin:g}"] for margin in MARGINS if metric["trials_for_margin"]]
        assert needed == sorted(needed)
        assert all(one >= 1 for one in needed)
    trials_line(advice)


@given(VALUES)
def test_memory_holds_no_record(values: list[list[float]]) -> None:
    spread = TrialSpread()
    for number, of_record in enumerate(values):
        for value in of_record:
            spread.add(str(number), value)
    spread.close()
    assert spread.records == len(values)
    assert spread.repeated == sum(len(of_record) > 1 for of_record in values)


@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3), min_size=1))
@example([[1e200, -1e200], [0.5, 0.7]])
@example([[1e-200, 2e-200], [0.0, 1e-200]])
@example([[5e-324, 0.0], [0.0, 0.0]])
@example([[1e153, -1e153], [1e153, 2e153]])
def test_whatever_finite_numbers_there_are_no_run_fails_by_its_advice(values: list[list[float]]) -> None:
    advice = told(values, ranges={}, trials=3)
    json.dumps(advice, allow_nan=False)
    trials_line(advice)


# -- as a line -----------------------------------------------------------------------------------------------------


def test_the_line_is_about_the_metric_that_varies_most_and_says_what_no_trial_helps() -> None:
    advice = Advice({"steady": (0.0, 1.0), "shaky": (0.0, 1.0)}, (), 2, 0.95)
    for number in range(50):
        for trial in range(2):
            advice.add_trial("steady", f"r{number}", float(number % 2))
            advice.add_trial("shaky", f"r{number}", float(number % 3 == 0 and (trial == 0 or number % 2)))
    line = trials_line(advice.told())
    assert line.startswith("trials: 2 of each record leave up to ±0.07")
    assert " of shaky to chance; " in line
    assert " would leave ±0.05. The choice of 50 records leaves ±" in line


# Two records whose trials agree were said to leave nothing to chance.
def test_trials_that_never_differ_leave_as_much_as_their_records_can_tell() -> None:
    few, many = told([[1.0, 1.0], [0.0, 0.0]]), told([[1.0, 1.0]] * 200)
    assert trials_line(few).startswith(
        "trials: 2 of each record leave up to ±0.49 of m to chance, though none differs from another yet; "
    )
    assert trials_line(many).startswith("trials: 2 of each record leave up to ±0.0")
    # One-sided, of no pair in 200 that differs: z² / (n + z²), and half of it is the variance.
    limit = many["metrics"][0]["within_variance_limit"]
    assert limit == pytest.approx(0.5 * 1.6448536**2 / (200 + 1.6448536**2))


def test_numbers_that_never_differ_are_bounded_by_their_range_or_by_nothing() -> None:
    values = [[0.25, 0.25], [0.75, 0.75], [0.5, 0.5]]
    assert of(values)["within_variance_limit"] == pytest.approx(0.5 * 1.6448536**2 / (3 + 1.6448536**2), rel=1e-6)
    assert of(values, ranges={"m": (0.0, 10.0)})["within_variance_limit"] == pytest.approx(23.7, abs=0.1)
    assert of(values, ranges={})["within_variance_limit"] is None
    assert of([[2.0, 2.0]] * 2, ranges={"m": (2.0, 2.0)})["trial_margin"] is None


@pytest.mark.parametrize(("records", "trials"), [(5, 3), (20, 2), (60, 2), (60, 5)])
def test_the_limit_holds_where_trials_seldom_differ(records: int, trials: int) -> None:
    draw = random.Random(records + trials)
    held = 0
    for _ in range(200):
        chances = [draw.betavariate(20, 1) for _ in range(records)]
        held += of(passes(draw, chances, trials))["within_variance_limit"] >= 0.0433  # of a beta(20, 1), on average
    assert held / 200 > 0.9


# -- in a run ------------------------------------------------------------------------------------------------------


def shaky(request: Request) -> Any:
    """Every other trial of the odd questions is right; an error now and then is no value."""
    seed = request.field("seed")
    if "Question 5?" in request.prompt and seed == 2:
        return faults.bad_request()
    return "Lisbon" if seed % 2 else "Oslo"


def test_a_run_with_trials_tells_in_its_file_its_json_and_its_table(tmp_path: Path) -> None:
    with Provider(shaky) as vendor:
        write_spec(tmp_path, model_of(vendor, seed=1), records(6), trials=3)
        done = run(tmp_path, "--format", "json")
    advice = results(tmp_path)["trial_advice"]
    assert json.loads(done.out)["trial_advice"] == advice
    [metric] = advice["metrics"]
    assert (metric["metric"], metric["records"], metric["records_with_trials"]) == ("exact-match", 6, 6)
    assert advice["trials"] == 3
    with Provider(shaky) as vendor:
        write_spec(tmp_path, model_of(vendor, seed=1), records(6), trials=3)
        table = run(tmp_path, "--fresh", "--quiet").out
        markdown = run(tmp_path, "--fresh", "--quiet", "--format", "markdown").out
    assert trials_line(advice) in table
    assert "trials: 3 of each record leave up to ±" in markdown


@pytest.mark.parametrize(("trials", "without"), [(1, ""), (3, "comparison")])
def test_nothing_is_told_of_single_trials_or_where_nothing_here_reckons_it(
    tmp_path: Path, trials: int, without: str
) -> None:
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor), trials=trials)
        end = executed(tmp_path, without=without)
    assert end.state == "succeeded"
    assert "trial_advice" not in results(tmp_path)
