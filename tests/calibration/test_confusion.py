"""The confusion matrix and its rates: by hand, and what holds for every set of ratings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.confusion import Confusion, confusion, pass_rates
from evalsi_calibration.shares import Share
from evalsi_kernel.scores.intervals import wilson

ratings = st.lists(st.tuples(st.sampled_from(["pass", "fail"]), st.sampled_from(["pass", "fail"])), max_size=60)


def test_people_are_in_rows_and_the_evaluator_in_columns() -> None:
    matrix = confusion([("pass", "fail"), ("pass", "pass"), ("fail", "fail"), ("pass", "fail")], ["pass", "fail"])
    assert matrix == Confusion(("pass", "fail"), ((1, 2), (0, 1)))
    assert matrix.agreement == Share(2, 4)


def test_rates_take_people_to_be_right() -> None:
    rates = pass_rates(Confusion(("pass", "fail"), ((8, 2), (3, 7))))
    assert rates.precision == Share(8, 11)
    assert rates.recall == Share(8, 10)
    assert rates.false_positives == Share(3, 10)
    assert rates.false_negatives == Share(2, 10)
    assert (rates.human_pass, rates.judge_pass) == (Share(10, 20), Share(11, 20))


def test_a_rate_of_nothing_is_undefined_and_not_0() -> None:
    rates = pass_rates(Confusion(("pass", "fail"), ((0, 4), (0, 0))))
    assert (rates.precision.value, rates.precision.interval(0.95)) == (None, None)
    assert (rates.false_positives.value, rates.recall.value) == (None, 0.0)


@given(ratings)
def test_nothing_is_lost_and_rates_go_with_one_another(given_ratings: list[tuple[str, str]]) -> None:
    matrix = confusion(given_ratings, ["pass", "fail"])
    rates = pass_rates(matrix)
    assert matrix.n == len(given_ratings)
    assert matrix.agreement.part == sum(human == judge for human, judge in given_ratings)
    assert rates.recall.part + rates.false_negatives.part == rates.recall.whole == rates.human_pass.part
    assert rates.precision.whole == rates.judge_pass.part


@given(ratings)
def test_exchanging_the_raters_exchanges_precision_and_recall(given_ratings: list[tuple[str, str]]) -> None:
    there = pass_rates(confusion(given_ratings, ["pass", "fail"]))
    back = pass_rates(confusion([(judge, human) for human, judge in given_ratings], ["pass", "fail"]))
    assert (there.precision, there.recall) == (back.recall, back.precision)


def test_a_share_has_wilsons_interval() -> None:
    assert Share(30, 36).interval(0.9) == wilson(30, 36, 0.9)
    assert Share(30, 36).to_dict(0.9)["ci"]["method"] == "wilson"
