"""How long evaluators took that wait: told by record and by evaluator, and not of those that never wait."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from evalsi_reports.expenses import expenses
from evalsi_reports.figures import percentile
from evalsi_reports.html_page import html_page
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import ReportData, read_report
from tests.reports.results_files import evaluation, write


def report_of(folder: Path, whole: dict[str, Any]) -> ReportData:
    return read_report(write(folder / "results.json", whole), redaction=Redaction(), baseline=None)


def embedded(page: str) -> Any:
    """What the page carries for its list of records."""
    packed = re.search(r'<script id="data"[^>]*>([^<]*)<', page)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1]), -zlib.MAX_WBITS))


def timed(times_ms: list[float | None]) -> dict[str, Any]:
    """An evaluation whose judge took so long for its records, and whose exact-match once was unusually slow."""
    whole = evaluation(len(times_ms))
    judged = [one for one in whole["results"] if one["evaluator"] == "llm-judge"]
    for result, took_ms in zip(judged, times_ms, strict=True):
        del result["duration_ms"]
        if took_ms is not None:
            result["duration_ms"] = took_ms
    whole["results"][0]["duration_ms"] = 1.4
    return whole


def test_an_evaluator_that_waits_is_summed_up_and_one_that_was_slow_once_is_not(tmp_path: Path) -> None:
    report = report_of(tmp_path, timed([812.4, 0.4, 61_000.0, None]))
    told = [(fact.label, fact.text) for fact in expenses(report.folded) if fact.of == "Time a record"]
    assert told == [("llm-judge", "median 812 ms, 95th percentile 1 min 1 s, slowest 1 min 1 s")]


def test_a_record_says_how_long_its_judge_took_also_without_a_script(tmp_path: Path) -> None:
    report = report_of(tmp_path, timed([812.4, 0.4, 61_000.0, None]))
    page = html_page(report)
    assert all(f"<small>{took}</small>" in page for took in ("812 ms", "under 1 ms", "1 min 1 s"))
    assert "(812 ms)" in markdown_page(report)
    carried = embedded(page)
    assert dict(zip(carried["evaluators"], carried["took"], strict=True)) == {
        "exact-match": None,
        "token-f1": None,
        "llm-judge": [812, 0.4, 61000, None],
    }


def test_a_file_that_tells_of_no_times_has_none_in_its_page(tmp_path: Path) -> None:
    report = report_of(tmp_path, timed([None, None, None]))
    assert embedded(html_page(report))["took"] is None
    assert not [fact for fact in expenses(report.folded) if fact.of == "Time a record"]


# The median of two, of six and of ten values was the rank above the nearest one, and of four and eight that one.
@pytest.mark.parametrize(
    ("count", "share", "rank"),
    [
        (1, 0.5, 1),
        (2, 0.5, 1),
        (3, 0.5, 2),
        (4, 0.5, 2),
        (6, 0.5, 3),
        (10, 0.5, 5),
        (20, 0.95, 19),
        (100, 0.07, 7),
        (100, 0.99, 99),
        (3, 0.95, 3),
    ],
)
def test_a_percentile_is_the_nearest_rank(count: int, share: float, rank: int) -> None:
    assert percentile([float(number) for number in range(1, count + 1)], share) == rank
