"""J6: what was measured by another judge, evaluator, param or prompt is not comparable, and never a regression.

G6: records of one side, the kind of p, float noise, and intervals beside p.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.toolkit import Toolkit
from evalsi_comparison.comparison import Comparison, Wanted, compare
from evalsi_comparison.json_report import json_report
from evalsi_comparison.page import html_report
from evalsi_comparison.text_report import markdown_report, text_report
from evalsi_comparison.words import ends
from evalsi_kernel.scores.intervals import Interval
from evalsi_reports.html_page import html_page
from evalsi_reports.judged import comparer
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report

from .results_files import many, write_results

ENTRY: dict[str, Any] = {
    "name": "quality", "ref": "judge/quality@1", "params": {"scale": 5}, "scope": "record", "prompts": ["a", "b"],
}  # fmt: skip
OTHER: dict[str, Any] = {"name": "exact", "ref": "core/exact@1", "params": {}, "scope": "record", "prompts": []}
JUDGE = {"roles": {"primary": {"model": "one"}}, "calls": 3}


def written(tmp_path: Path, name: str, passing: bool, *, entry: dict[str, Any], judge: Any) -> Path:
    values = {"quality": many("r", 30, passing), "exact": many("r", 30, True)}
    path = tmp_path / f"{name}.json"
    write_results(path, values, manifest={"evaluators": [entry, OTHER], "judge": judge})
    # The summary of a judged metric says what its judge took.
    before, found, after = path.read_text("utf-8").partition('"judge": null')
    assert found
    path.write_text(f'{before}"judge": {{"calls": 30}}{after}', "utf-8")
    return path


def compared(tmp_path: Path, judge: Any = JUDGE, **changed: Any) -> tuple[Comparison, tuple[Path, Path]]:
    base = written(tmp_path, "base", True, entry=ENTRY, judge=JUDGE)
    candidate = written(tmp_path, "candidate", False, entry={**ENTRY, **changed}, judge=judge)
    return compare(Wanted(base, candidate, watched=[])), (base, candidate)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"judge": {"roles": {"primary": {"model": "two"}}}}, "the judge"),
        ({"judge": {"roles": {"primary": {"model": "one", "temperature": 1}}}}, "the judge"),
        ({"ref": "judge/quality@2"}, "judge/quality@2"),
        ({"params": {"scale": 10}}, "params"),
        ({"params": {}}, "params"),
        ({"prompts": ["a", "c"]}, "prompts"),
    ],
)
def test_j6_another_measure_is_not_comparable_and_no_regression(
    tmp_path: Path, changed: dict[str, Any], what: str
) -> None:
    found, files = compared(tmp_path, **changed)
    quality, exact = found.differences
    said = json_report(found)

    assert what in quality.not_comparable
    assert (quality.tested.p, quality.ci, quality.flips, quality.direction(0.05)) == (None, None, (), "same")
    assert (exact.not_comparable, exact.p_holm) == ("", 1.0)
    assert not found.failed
    assert [one.verdict for one in found.judged or ()] == ["not judged", "fine"]
    assert said["metrics"][0]["not_comparable"] == quality.not_comparable
    assert "Not comparable: quality" in said["headline"]
    for text in (text_report(found), markdown_report(found), html_report(found)):
        assert "ot comparable: quality" in text
    report = read_report(files[1], redaction=Redaction(), baseline=files[0], compare=comparer(Toolkit()))
    assert report.changes is not None
    assert report.changes.metrics[0].not_comparable
    assert not report.changes.metrics[0].is_clear
    assert "quality worse" not in report.headline.since
    assert "not comparable: " in markdown_page(report)
    assert "not comparable: " in html_page(report)


@pytest.mark.parametrize(
    "changed", [{}, {"prompts": ["a"]}, {"prompts": []}, {"judge": {**JUDGE, "calls": 9, "cost_usd": 1.0}}]
)
def test_j6_the_same_measure_stays_comparable(tmp_path: Path, changed: dict[str, Any]) -> None:
    found, _ = compared(tmp_path, **changed)

    assert found.differences[0].direction(0.05) == "worse"
    assert found.failed


def test_j6_another_judge_leaves_metrics_without_a_judge_comparable(tmp_path: Path) -> None:
    found, _ = compared(tmp_path, judge=None)

    assert [bool(one.not_comparable) for one in found.differences] == [True, False]


def test_g6_records_of_one_side_are_listed(tmp_path: Path) -> None:
    base = write_results(tmp_path / "a.json", {"exact": many("old", 7, True) | many("r", 3, True)})
    candidate = write_results(tmp_path / "b.json", {"exact": {**many("r", 3, True), "new": True}})
    found = compare(Wanted(base, candidate))

    assert found.records.only_base_ids == tuple(f"old{number}" for number in range(7))
    assert found.records.only_candidate_ids == ("new",)
    assert "old0, old1" in text_report(found)
    assert json_report(found)["records"]["only_candidate_ids"] == ("new",)


def test_g6_the_kind_of_p_is_said_with_one_metric_too(tmp_path: Path) -> None:
    values = many("r", 9, True)
    base = write_results(tmp_path / "a.json", {"exact": values})
    candidate = write_results(tmp_path / "b.json", {"exact": {**values, "r0": False}})

    assert "(mid-p)" in text_report(compare(Wanted(base, candidate)))


def test_g6_the_rounding_of_floats_is_no_change(tmp_path: Path) -> None:
    base = write_results(tmp_path / "a.json", {"f1": {f"r{number}": 0.1 * number for number in range(1, 9)}})
    noisy = {f"r{number}": sum([0.1] * number) for number in range(1, 9)}
    same = compare(Wanted(base, write_results(tmp_path / "b.json", {"f1": noisy}))).differences[0]
    shifted = {record: value + 0.3 for record, value in noisy.items()}
    moved = compare(Wanted(base, write_results(tmp_path / "c.json", {"f1": shifted}))).differences[0]

    assert (same.won, same.lost, same.difference) == (0, 0, 0.0)
    assert (moved.ci, moved.tested.test) == (None, "sign-flip")


def test_g6_a_narrow_interval_shows_its_two_ends() -> None:
    assert ends(Interval(0.30001, 0.30002, 0.95, "t")) == "[+0.30001, +0.30002]"
    assert ends(Interval(0.3, 0.4, 0.95, "t")) == "[+0.300, +0.400]"


def test_g6_an_interval_that_excludes_0_beside_no_significant_difference_is_explained(tmp_path: Path) -> None:
    kept = many("r", 60, True)
    names = [f"m{number}" for number in range(5)]
    base = write_results(tmp_path / "a.json", dict.fromkeys(names, kept))
    lost = {**kept, **many("r", 5, False)}
    candidate = write_results(tmp_path / "b.json", {**dict.fromkeys(names, kept), "m0": lost})
    found = compare(Wanted(base, candidate))

    assert not found.differences[0].significant(0.05)
    assert "The interval of m0 excludes 0" in text_report(found)
    assert "The interval of m0 excludes 0" in html_report(found)
