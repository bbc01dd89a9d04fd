"""Which records a person sees first, and that what has no score is never among the lowest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalsi_reports.overview import failed_rows, tiles
from evalsi_reports.record_view import score_of
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import ReportData, read_report
from tests.reports.results_files import evaluation, run, write


def read(folder: Path, whole: dict[str, Any], count: int = 10) -> ReportData:
    return read_report(write(folder / "results.json", whole), redaction=Redaction(), worst_count=count)


def ids(report: ReportData) -> list[str]:
    return [report.folded.rows.ids[row] for row in report.worst]


def test_failed_checks_come_before_low_numbers(tmp_path: Path) -> None:
    report = read(tmp_path, evaluation(40))
    numbers = [int(one[-4:]) for one in ids(report)]
    failed = [number for number in numbers if number % 5 == 0]
    assert len(numbers) == 10
    assert numbers[: len(failed)] == failed
    assert len(failed) == 7


def test_a_record_is_shown_once_however_many_of_its_trials_failed(tmp_path: Path) -> None:
    report = read(tmp_path, run(30), 50)
    assert len(ids(report)) == len(set(ids(report)))


def test_errors_and_skips_are_not_low_scores(tmp_path: Path) -> None:
    whole = evaluation(26)
    for result in whole["results"]:
        if result["evaluator"] != "llm-judge" or result["outcome"] == "scored":
            result.pop("scores", None)
            result |= {"outcome": "skipped", "reason": "nothing to say"}
            result.pop("error", None)
    report = read(tmp_path, whole)
    assert report.worst == ()
    assert set(report.bad) == {0.0}


def test_measures_with_a_unit_say_nothing_of_quality(tmp_path: Path) -> None:
    whole = evaluation(10)
    whole["results"] = [one for one in whole["results"] if one["evaluator"] == "token-f1"]
    whole["summaries"] = [whole["summaries"][1] | {"unit": "ms", "higher_is_better": False}]
    assert read(tmp_path, whole).worst == ()


def test_a_pass_fail_metric_of_which_neither_is_better_is_no_check_that_a_record_fails(tmp_path: Path) -> None:
    whole = evaluation(10)
    whole["results"] = [one for one in whole["results"] if one["evaluator"] == "exact-match"]
    whole["summaries"] = [whole["summaries"][0] | {"higher_is_better": None}]
    report = read(tmp_path, whole)
    assert report.worst == ()
    assert failed_rows(report) == 0
    assert "failed a check" not in [tile.label for tile in tiles(report)]
    chips = {score_of(report.metrics[0], row) for row in range(10)} - {None}
    assert {(chip.text, chip.tone) for chip in chips if chip} == {("yes", "plain"), ("no", "plain")}


def test_of_numbers_the_lowest_come_first_and_perfect_ones_never(tmp_path: Path) -> None:
    whole = evaluation(21)
    whole["results"] = [one for one in whole["results"] if one["evaluator"] == "token-f1"]
    whole["summaries"] = [whole["summaries"][1]]
    shown = ids(read(tmp_path, whole, 50))
    assert shown[:2] == ["ferry-0021", "ferry-0001"]
    assert "ferry-0020" not in shown


def test_what_a_failing_gate_is_about_weighs_more(tmp_path: Path) -> None:
    whole = evaluation(40)
    for result in whole["results"]:
        if result["evaluator"] == "token-f1" and "scores" in result:
            result["scores"][0] = {"name": "token-f1", "passed": result["record_id"] != "ferry-0001"}
    whole["summaries"][1]["kind"] = "pass"
    assert ids(read(tmp_path, whole))[0] != "ferry-0001"
    whole["gates"] = [{"metric": "token-f1", "verdict": "fail", "min": 1.0}]
    whole["verdict"] = "fail"
    assert ids(read(tmp_path, whole))[0] == "ferry-0001"
