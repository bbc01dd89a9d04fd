"""`--fail-on-regression`: what fails, what does not, and what cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_comparison.comparison import Wanted, compare
from evalsi_comparison.regression import Judged, Watched, parse_watched
from evalsi_kernel.errors import UsageError
from tests.comparison.results_files import many, write_results

STEADY = many("a", 40, True)


def judged(tmp_path: Path, base: Any, candidate: Any, *watched: Watched, better: bool | None = True) -> Judged:
    """The judgement on the metric `exact`; beside it stands one that never changes."""
    paths = [
        write_results(tmp_path / f"{name}.json", {"exact": values, "other": STEADY}, higher_is_better={"exact": better})
        for name, values in (("base", base), ("candidate", candidate))
    ]
    found = compare(Wanted(paths[0], paths[1], watched=watched))
    assert found.judged is not None
    (one,) = [one for one in found.judged if one.metric == "exact"]
    assert found.failed is one.fails
    return one


def falling(count: int, of: int = 40) -> dict[str, Any]:
    return {**many("a", of, True), **many("a", count, False)}


def test_a_metric_that_is_significantly_worse_fails(tmp_path: Path) -> None:
    one = judged(tmp_path, STEADY, falling(9))
    assert (one.verdict, one.reason.partition(",")[0]) == ("regressed", "worse by 0.225")


def test_a_fall_that_may_be_chance_does_not_fail_nor_does_a_rise(tmp_path: Path) -> None:
    assert judged(tmp_path, STEADY, falling(3)).verdict == "fine"
    assert judged(tmp_path, falling(20), STEADY).verdict == "fine"


def test_what_is_significant_alone_but_not_among_several_does_not_fail(tmp_path: Path) -> None:
    # Six changes are p = 0.016 alone; among five metrics they are 0.08.
    names = ("exact", "b", "c", "d", "e")
    base = write_results(tmp_path / "base.json", dict.fromkeys(names, STEADY))
    candidate = write_results(tmp_path / "candidate.json", {**dict.fromkeys(names, STEADY), "exact": falling(6)})
    assert not compare(Wanted(base, candidate, watched=())).failed
    assert compare(Wanted(base, candidate, metrics=["exact"], watched=())).failed


def test_where_lower_is_better_a_rise_fails(tmp_path: Path) -> None:
    assert judged(tmp_path, falling(9), STEADY, better=False).verdict == "regressed"
    assert judged(tmp_path, STEADY, falling(9), better=False).verdict == "fine"


def test_a_metric_without_a_direction_is_told_and_not_judged(tmp_path: Path) -> None:
    one = judged(tmp_path, STEADY, falling(20), better=None)
    assert (one.verdict, one.fails) == ("not judged", False)


def test_with_a_drop_it_must_be_larger_and_the_interval_exclude_zero(tmp_path: Path) -> None:
    watched = Watched("exact", 0.2)
    assert judged(tmp_path, STEADY, falling(9), watched).verdict == "regressed"
    assert judged(tmp_path, STEADY, falling(8), watched).verdict == "fine"
    # A large drop of four records is in the reach of chance.
    assert judged(tmp_path, many("a", 4, True), falling(1, of=4), watched).verdict == "fine"


def test_every_record_worse_by_the_same_is_no_chance(tmp_path: Path) -> None:
    base, candidate = many("a", 10, 0.9), many("a", 10, 0.8)
    assert judged(tmp_path, base, candidate).verdict == "regressed"
    assert judged(tmp_path, base, candidate, Watched("exact", 0.05)).verdict == "regressed"
    assert judged(tmp_path, base, candidate, Watched("exact", 0.15)).verdict == "fine"


def test_nineteen_errors_of_twenty_never_pass(tmp_path: Path) -> None:
    errors = {**dict.fromkeys(many("a", 20, True)), "a0": True}
    one = judged(tmp_path, many("a", 20, True), errors)
    assert (one.verdict, one.reason) == ("undecided", "only 1 of 20 scores of the base have a pair")
    one = judged(tmp_path, many("a", 20, True), dict.fromkeys(many("a", 20, True)), Watched("exact", 0.1))
    assert (one.verdict, one.fails) == ("undecided", True)


def test_numbers_too_large_to_be_compared_never_pass(tmp_path: Path) -> None:
    one = judged(tmp_path, {"a": 1e200, "b": 1.0}, {"a": 1.0, "b": 1.0})
    assert (one.verdict, one.fails, one.reason) == ("undecided", True, "its values are too large to be compared")


def test_words_name_a_metric_and_a_drop() -> None:
    words = ["exact-match", "exact-match:0.02", "a:b:0", "a:b", "pass^3:.1"]
    assert parse_watched(words) == [
        Watched("exact-match"),
        Watched("exact-match", 0.02),
        Watched("a:b", 0.0),
        Watched("a:b"),
        Watched("pass^3", 0.1),
    ]


@pytest.mark.parametrize("word", ["exact:-0.1", "exact:nan", "exact:inf", ":0.1"])
def test_a_drop_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="a drop is a number from 0 on"):
        parse_watched([word])


@pytest.mark.parametrize("flag", ["metrics", "watched"])
def test_a_misspelt_metric_is_told_with_the_nearest_before_results_are_read(tmp_path: Path, flag: str) -> None:
    base = write_results(tmp_path / "base.json", {"exact-match": STEADY})
    candidate = write_results(tmp_path / "candidate.json", {"exact-match": STEADY})
    # A fault in the results would be told if they were read.
    candidate.write_text(candidate.read_text().replace('"record_id":"a1"', '"record_id":1'))
    named: Any = ["exact_mach"] if flag == "metrics" else [Watched("exact_mach")]
    with pytest.raises(UsageError, match=r'which neither run has\. Did you mean "exact-match"\?'):
        compare(Wanted(base, candidate, **{flag: named}))


def test_a_metric_of_one_run_only_is_told_with_that_run(tmp_path: Path) -> None:
    base = write_results(tmp_path / "base.json", {"exact": STEADY, "old": STEADY})
    candidate = write_results(tmp_path / "candidate.json", {"exact": STEADY})
    with pytest.raises(UsageError, match=r"names 'old', which only .*base\.json has"):
        compare(Wanted(base, candidate, watched=[Watched("old")]))


# In floats 0.92 - 0.9 is more than 0.02.
def test_a_drop_of_just_what_is_allowed_is_fine_whatever_floats_make_of_it(tmp_path: Path) -> None:
    base, candidate = many("a", 50, 0.92), many("a", 50, 0.9)
    assert judged(tmp_path, base, candidate, Watched("exact", 0.02)).verdict == "fine"
    assert judged(tmp_path, base, candidate, Watched("exact", 0.0199)).verdict == "regressed"
