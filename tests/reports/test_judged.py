"""A report and `evalsi compare` say the same of the same files: one judgement, which several metrics share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.toolkit import Toolkit
from evalsi_comparison.command import Compare
from evalsi_comparison.comparison import Wanted, compare
from evalsi_comparison.words import headline
from evalsi_reports.html_page import html_page
from evalsi_reports.json_digest import json_digest
from evalsi_reports.judged import comparer
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import ReportData, read_report
from tests.comparison.results_files import Values, write_results

TOOLKIT = Toolkit()


def slower(count: int = 12) -> tuple[dict[str, Values], dict[str, Values]]:
    """Base and candidate: alone the latency would be significantly worse, beside two other metrics it is not."""
    base: dict[str, Values] = {"latency": {f"q{one}": 100.0 for one in range(count)}}
    # Mean 6, standard deviation 9: t = 2.3 at 11 degrees of freedom.
    rises = [-9, -3, 0, 0, 3, 3, 6, 6, 12, 15, 18, 21][:count]
    candidate: dict[str, Values] = {"latency": {f"q{one}": 100.0 + rise for one, rise in enumerate(rises)}}
    for name in ("exact", "f1"):
        base[name] = {f"q{one}": one % 2 == 0 for one in range(count)}
        candidate[name] = {f"q{one}": one % 2 == 0 or one == 1 for one in range(count)}
    return base, candidate


def reported(base: Path, candidate: Path) -> ReportData:
    """The report of a candidate with its baseline, as the command makes it."""
    return read_report(candidate, redaction=Redaction(), baseline=base, compare=comparer(TOOLKIT))


def written(
    folder: Path, base: Mapping[str, Values], candidate: Mapping[str, Values], **of_both: Any
) -> tuple[Path, Path]:
    """Both files."""
    better = {"latency": False}
    return (
        write_results(folder / "base.json", base, higher_is_better=better, **of_both),
        write_results(folder / "candidate.json", candidate, higher_is_better=better, **of_both),
    )


def said_by_both(base: Path, candidate: Path) -> tuple[list[Any], list[Any]]:
    """What both say of each metric."""
    digest = json.loads(json_digest(reported(base, candidate)))["changes"]
    ours = [
        (one["metric"], one["difference"], one["low"], one["high"], one["clear"], one["pairs"], one["lost"], one["won"])
        for one in digest["metrics"]
    ]
    found = compare(Wanted(base, candidate))
    theirs = []
    for one in found.differences:
        ids = [flip.record_id for flip in one.flips]
        low, high = (one.ci.low, one.ci.high) if one.ci else (None, None)
        clear = one.direction(0.05) != "same"
        theirs.append((one.metric, one.difference, low, high, clear, one.records, ids[: one.lost], ids[one.lost :]))
    return ours, theirs


# A metric was called clearly worse for being looked at alone, where `compare` of the same files found nothing.
def test_of_several_metrics_one_that_would_be_clear_alone_is_not_clear(tmp_path: Path) -> None:
    base, candidate = slower()
    alone = reported(*written(tmp_path, {"latency": base["latency"]}, {"latency": candidate["latency"]}))
    assert alone.headline.since == "Since base.json: latency worse by 6.000."
    files = written(tmp_path, base, candidate)
    assert compare(Wanted(*files)).differences[0].direction(0.05) == "same"
    report = reported(*files)
    assert report.headline.since == "Since base.json: no metric changed clearly."
    assert "▼" not in markdown_page(report)
    assert "<b>+6.000</b><small>may be chance</small>" in html_page(report)


@pytest.mark.parametrize("of_both", [{}, {"metadata": {f"q{one}": {"room": one // 3} for one in range(12)}}])
def test_both_say_the_same_of_each_metric_in_clusters_too(tmp_path: Path, of_both: dict[str, Any]) -> None:
    if of_both:
        key = {"confidence_level": 0.95, "cluster_by": "room", "ci_method": "auto", "seed": 0}
        of_both = {**of_both, "manifest": {"summary": key}}
    ours, theirs = said_by_both(*written(tmp_path, *slower(), **of_both))
    assert ours == theirs
    assert len(ours) == 3


def test_both_pair_trials_and_leave_out_what_one_run_did_not_score(tmp_path: Path) -> None:
    base: dict[str, Values] = {"exact": {f"q{one}": [True, True, one % 3 == 0] for one in range(30)}}
    candidate: dict[str, Values] = {"exact": {f"q{one}": [True, None, False] for one in range(30)}}
    ours, theirs = said_by_both(*written(tmp_path, base, candidate))
    assert ours == theirs
    assert ours[0][4:6] == (True, 30)


def test_records_with_another_input_are_paired_by_neither(tmp_path: Path) -> None:
    base = write_results(tmp_path / "base.json", {"exact": {f"q{one}": True for one in range(9)}})
    other = {"q0": "Another question?"}
    candidate = write_results(tmp_path / "new.json", {"exact": {f"q{one}": one > 0 for one in range(9)}}, inputs=other)
    ours, theirs = said_by_both(base, candidate)
    assert ours == theirs
    assert ours[0][5:7] == (8, [])


def test_more_errors_lead_the_report_as_they_lead_the_comparison(tmp_path: Path) -> None:
    base: dict[str, Values] = {"exact": {f"q{one}": True for one in range(40)}}
    candidate: dict[str, Values] = {"exact": {f"q{one}": None if one < 12 else True for one in range(40)}}
    files = written(tmp_path, base, candidate)
    report = reported(*files)
    told = "More errors: 12 against 0 of 40 records, p < 0.001"
    assert report.headline.since == f"Since base.json: no metric changed clearly. {told}."
    assert headline(compare(Wanted(*files))).startswith(told)
    assert "More errors: 12 against 0 of 40 records" in html_page(report)
    assert json.loads(json_digest(report))["changes"]["errors"] == told


def test_where_nothing_compares_nothing_is_called_clear_and_why_is_said(tmp_path: Path) -> None:
    base, candidate = written(tmp_path, *slower())
    alone = read_report(candidate, redaction=Redaction(), baseline=base).changes
    assert alone is not None
    assert alone.notes == ("No difference is judged here: evalsi-comparison, which does it, is not installed.",)
    assert {(one.is_clear, one.low, one.paired) for one in alone.metrics} == {(False, None, 0)}
    assert alone.metrics[0].difference == pytest.approx(6)


def test_the_command_compare_is_found_by_its_name() -> None:
    found = comparer(TOOLKIT)
    assert found is not None
    assert found.__self__.__class__ is Compare  # type: ignore[attr-defined]
