"""Markdown: short enough for a job's summary whatever the run is like, and in a form that forges show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.markdown_text import code, fenced, in_html, plain
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report
from tests.reports.comparer import COMPARER
from tests.reports.results_files import changed, evaluation, gate_of, run, summary_of, write


def test_a_run_of_very_much_stays_below_60_kb(tmp_path: Path) -> None:
    whole = run(300)
    long = "a metric of a rather long name " * 6
    whole["summaries"] += [summary_of(f"{long}{number}", "e", "number", [0.5, 0.7]) for number in range(400)]
    whole["gates"] = [gate_of(f"{long}{number}", "fail", min=0.9, reason=long * 3) for number in range(400)]
    path = write(tmp_path / "results.json", whole)
    report = read_report(path, redaction=Redaction(), baseline=path, compare=COMPARER, worst_count=200)
    page = markdown_page(report)
    assert len(page.encode()) < 60_000
    assert "did not fit here" in page


def test_records_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    whole = changed(evaluation(300), lambda one: [record.update(output="x " * 4_000) for record in one["records"]])
    page = markdown_page(read_report(write(tmp_path / "r.json", whole), redaction=Redaction(), worst_count=100))
    assert len(page.encode()) < 60_000
    assert re.search(r"\d+ more records did not fit here", page)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("a|b*c_d`e<f>", r"a\|b\*c\_d\`e&#60;f&#62;"),
        ("@all #12 www.x.y https://z", "@\u2060all #\u206012 www\\.x.y https&#58;//z"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_text_means_itself(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_code_and_blocks_end_where_they_should() -> None:
    assert code("a`b|c") == "`` a`b\\|c ``"
    assert code("") == "–"
    assert fenced("```\nx\n````").splitlines()[0] == "`````text"
    assert in_html("<b>@all & https://x") == "&lt;b&gt;@\u2060all &amp; https:\u2060//x"


def test_what_is_in_the_file_is_in_the_page(tmp_path: Path) -> None:
    page = markdown_page(read_report(write(tmp_path / "r.json", run(30)), redaction=Redaction()))
    assert "| exact-match |" in page
    assert "### Trials" in page
    assert "### Slices" in page
