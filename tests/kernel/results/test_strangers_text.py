"""S3: texts of strangers neither command a terminal nor run as a formula of a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_analytics.answers import Answer, as_csv, as_table
from evalsi_cli.terminal import as_json
from evalsi_comparison.comparison import Wanted, compare
from evalsi_comparison.text_report import markdown_report, text_report
from evalsi_kernel.results.csv_text import csv_cell, csv_text
from evalsi_kernel.results.grid import printable_lines
from tests.comparison.results_files import write_results

EVIL = "\x1b]0;owned\x07\x9b31m\u202egnp\rx\nline"
CONTROLS = ("\x1b", "\x07", "\x9b", "\u202e", "\r")


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "  =1", "\r=1", "＝1"])
def test_s3_a_formula_is_text_in_csv(text: str) -> None:
    cell = csv_cell(text)

    assert cell.startswith("'")
    assert not csv_text([text], [[text]]).startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("value", ["-5", "+1.5", "-2e10", "a=b", "x@y.org", "", -7, -1.5, True, "A-1"])
def test_s3_numbers_and_plain_texts_stay_as_they_are_in_csv(value: Any) -> None:
    assert csv_cell(value) == value


def test_s3_csv_keeps_lines_and_commas_within_a_cell_and_escapes_controls() -> None:
    text = as_csv(Answer(["name", "=n"], [["a,b\n" + EVIL, None], ["=1+1", -3]]))
    rows = list(csv.reader(io.StringIO(text)))

    assert not any(one in text for one in CONTROLS)
    assert rows[0] == ["name", "'=n"]
    assert rows[1][0].startswith("a,b\n\\x1b]0;owned\\x07")
    assert rows[2] == ["'=1+1", "-3"]


def test_s3_tables_and_json_escape_what_commands_a_terminal() -> None:
    assert not any(one in as_table(Answer([EVIL], [[EVIL]])) for one in CONTROLS)
    shown = as_json({EVIL: [EVIL, "\x7f", "straße 北京"]})
    assert not any(one in shown for one in (*CONTROLS, "\x7f"))
    assert json.loads(shown) == {EVIL: [EVIL, "\x7f", "straße 北京"]}


def test_s3_several_lines_stay_lines() -> None:
    assert printable_lines("one\ntwo\x1b[2J") == "one\ntwo\\x1b[2J"


def test_s3_compare_escapes_labels_metrics_ids_and_labels_of_runs(tmp_path: Path) -> None:
    def values(label: str, passes: bool) -> dict[str, Any]:
        return {
            f"tone{EVIL}": {f"r{EVIL}{at}": f"{label}{EVIL}" for at in range(9)},
            f"exact{EVIL}": {f"r{EVIL}{at}": passes for at in range(9)},
        }

    source = {"commit": EVIL, "branch": EVIL}
    texts = {f"r{EVIL}{at}": EVIL for at in range(9)}
    base = write_results(
        tmp_path / "a.json", values("kind", True) | {EVIL: {"r": True}}, outputs=texts, manifest={"source": source}
    )
    candidate = write_results(
        tmp_path / "b.json",
        values("rude", False) | {EVIL: {"r2": True}},
        outputs=texts,
        manifest={"source": source, "run_id": EVIL, "status": "partial", "error": {"message": EVIL}},
    )
    found = compare(Wanted(base, candidate, watched=[]))

    for text in (text_report(found), markdown_report(found)):
        assert not any(one in text for one in CONTROLS)
        assert "\nline" not in text
