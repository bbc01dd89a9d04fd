"""Errors are no scores, and a candidate that fails on more records is worse all the same: the headline says it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalsi_comparison.comparison import Comparison, Wanted, compare
from evalsi_comparison.json_report import json_report
from evalsi_comparison.mcnemar import mcnemar_midp
from evalsi_comparison.page import html_report
from evalsi_comparison.regression import Watched
from evalsi_comparison.text_report import markdown_report, text_report
from evalsi_comparison.words import headline
from tests.comparison.results_files import Values, write_results

ALL = range(527)


def failing(first: int, last: int, *, of: range = ALL) -> dict[str, Any]:
    """Records of which those from the first up to the last are errors."""
    return {f"q{one}": None if first <= one < last else True for one in of}


def compared(
    folder: Path,
    base: Mapping[str, Values],
    candidate: Mapping[str, Values],
    of_both: dict[str, Any] | None = None,
    **how: Any,
) -> Comparison:
    """What is found in two files of these metrics."""
    files = [
        write_results(folder / f"{name}.json", metrics, **(of_both or {}))
        for name, metrics in (("base", base), ("candidate", candidate))
    ]
    return compare(Wanted(files[0], files[1], **how))


# Only notes told that a candidate broke on 126 of 527 records, below "No significant difference."
def test_a_candidate_that_fails_on_far_more_records_is_worse_in_the_headline(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": failing(0, 30)}, {"exact": failing(10, 136)})
    told = "More errors: 126 against 30 of 527 records, p < 0.001. No significant difference in 1 metric."
    assert headline(found) == told
    assert text_report(found).startswith(told)
    assert markdown_report(found).startswith("**More errors: 126 against 30 of 527 records, p \\< 0.001. No")
    assert '<h1 class="worse">More errors: 126 against 30' in html_report(found)
    errors = json_report(found)["errors"]
    assert errors.pop("p") == mcnemar_midp(106, 10)
    assert errors.pop("ci")["method"] == "tango"
    assert errors == {
        "base": 30,
        "candidate": 126,
        "of": 527,
        "records": 527,
        "difference": pytest.approx(96 / 527),
        "test": "mcnemar-midp",
        "significant": True,
        "direction": "worse",
    }


def test_where_everything_failed_no_metric_is_said_to_be_the_same(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": failing(0, 0)}, {"exact": failing(0, 527)})
    assert headline(found) == "More errors: 527 against 0 of 527 records, p < 0.001."


def test_fewer_errors_are_better(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": failing(0, 40)}, {"exact": failing(0, 4)})
    assert headline(found).startswith("Fewer errors: 4 against 40 of 527 records, p < 0.001.")
    assert found.errors.direction(0.05) == "better"


def test_errors_that_may_be_chance_stand_below_the_table_and_not_in_the_headline(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": failing(0, 30)}, {"exact": failing(0, 33)})
    assert headline(found) == "No significant difference."
    assert "\nErrors: 33 against 30 of 527 records, p = 0.13.\n" in text_report(found)
    assert "Errors:" not in text_report(compared(tmp_path, {"exact": failing(0, 0)}, {"exact": failing(0, 0)}))


def test_a_record_on_which_several_evaluators_failed_is_one_error(tmp_path: Path) -> None:
    metrics = dict.fromkeys(("exact", "f1", "length"), failing(0, 20))
    found = compared(tmp_path, dict.fromkeys(metrics, failing(0, 0)), metrics)
    assert (found.errors.base, found.errors.candidate, found.errors.items) == (0, 20, 527)


def test_an_evaluator_of_one_run_alone_and_records_of_one_run_alone_bring_no_errors(tmp_path: Path) -> None:
    fine: Values = failing(0, 0, of=range(40))
    more: Values = {**fine, **failing(100, 140, of=range(100, 140))}
    found = compared(tmp_path, {"exact": fine}, {"exact": more, "new": failing(0, 40, of=range(40))})
    assert (found.errors.candidate, found.errors.items) == (0, 40)


def test_skips_and_what_was_not_answered_are_no_errors(tmp_path: Path) -> None:
    skipped: Values = {f"q{one}": "skipped" if one < 20 else True for one in range(40)}
    found = compared(tmp_path, {"exact": failing(0, 0, of=range(40))}, {"exact": skipped})
    assert (found.errors.candidate, found.errors.items) == (0, 40)


def test_trials_of_a_record_and_records_of_a_cluster_do_not_count_for_several(tmp_path: Path) -> None:
    base: dict[str, Values] = {"exact": {f"q{one}": [True] * 4 for one in range(4)}}
    candidate: dict[str, Values] = {
        "exact": {f"q{one}": [None] * 3 + [True] if one < 3 else [True] * 4 for one in range(4)}
    }
    found = compared(tmp_path, base, candidate)
    assert (found.errors.candidate, found.errors.items, found.errors.records) == (9, 16, 4)
    assert found.errors.tested.test == "paired-t"
    told = "9 against 0 of 16 items"
    assert told in text_report(found)
    rooms = {f"q{one}": {"room": one % 2} for one in range(40)}
    clustered = compared(
        tmp_path,
        {"exact": failing(0, 0, of=range(40))},
        {"exact": failing(0, 12, of=range(40))},
        {"metadata": rooms},
        cluster_by="room",
    )
    assert clustered.errors.tested.test == "sign-flip"
    assert clustered.errors.direction(0.05) == "same"


# -- --fail-on-regression ------------------------------------------------------------------------------------------


def test_more_errors_are_a_regression(tmp_path: Path) -> None:
    found = compared(tmp_path, {"exact": failing(0, 30)}, {"exact": failing(10, 136)}, watched=())
    assert found.failed
    assert "regressed: errors, 126 against 30 of 527 records, p < 0.001" in text_report(found)
    assert "no regression" not in text_report(found)


def test_errors_of_metrics_that_are_not_watched_are_no_regression(tmp_path: Path) -> None:
    base = {"exact": failing(0, 0), "judge": failing(0, 0)}
    candidate = {"exact": failing(0, 0), "judge": failing(0, 90)}
    assert compared(tmp_path, base, candidate, watched=()).failed
    assert not compared(tmp_path, base, candidate, watched=[Watched("exact", 0.02)]).failed
    assert compared(tmp_path, base, candidate, watched=[Watched("judge", 0.02)]).failed
    assert compared(tmp_path, base, candidate, metrics=["exact"], watched=()).errors.candidate == 0


@pytest.mark.parametrize("candidate", [failing(0, 30), failing(0, 4), failing(0, 33)])
def test_as_many_errors_fewer_or_a_few_more_are_no_regression(tmp_path: Path, candidate: dict[str, Any]) -> None:
    found = compared(tmp_path, {"exact": failing(0, 30)}, {"exact": candidate}, watched=())
    assert not found.failed
    assert "no regression in 1 metric" in text_report(found)
