"""`--redact`: what is withheld is in no form of the report, wherever the file quotes it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import UsageError
from evalsi_reports.html_page import html_page
from evalsi_reports.json_digest import json_digest
from evalsi_reports.junit import junit
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction, parse_redaction
from evalsi_reports.report import ReportData, read_report
from tests.reports.results_files import run, write

INPUT, OUTPUT, QUOTE, TOPIC = "QUESTIONABLE", "ANSWERABLE", "QUOTABLE", "TOPICAL"


def html_with_rows(report: ReportData) -> str:
    """The page, with the rows that it carries unpacked."""
    page = html_page(report)
    packed = re.search(r'<script id="data"[^>]*>([^<]*)<', page)
    assert packed is not None
    return page + zlib.decompress(base64.b64decode(packed[1]), -zlib.MAX_WBITS).decode()


FORMS: dict[str, Callable[[ReportData], str]] = {
    "html": html_with_rows,
    "md": markdown_page,
    "json": json_digest,
    "junit": lambda report: junit(report, with_records=True),
}


def marked() -> dict[str, Any]:
    """A run whose texts carry marks wherever a file can quote them."""
    whole = run(30)
    error = {
        "code": "pack.evaluator_raised",
        "message": f"raised {QUOTE}",
        "hint": QUOTE,
        "source": "pack",
        "retry": "no",
    }
    for place, record in enumerate(whole["records"]):
        record |= {
            "input": INPUT,
            "output": OUTPUT,
            "reference": QUOTE,
            "context": [QUOTE],
            "metadata": {"topic": TOPIC},
        }
        record["trajectory"] = {"steps": [{"text": QUOTE}]}
        record["provenance"]["run"]["error"] = error if place % 9 == 0 else None
    for result in whole["results"]:
        for score in result.get("scores", ()):
            score |= {"explanation": QUOTE, "metadata": {"quote": QUOTE}}
        if "reason" in result:
            result["reason"] = QUOTE
        if "error" in result:
            result["error"] = error
    for reply in whole["judge_replies"]:
        reply["text"] = QUOTE
    whole["manifest"]["error"] = error
    whole["manifest"]["spec"]["spec"]["target"]["system_prompt"] = QUOTE
    whole["manifest"]["target"]["system_prompt"] = QUOTE
    for one in whole["slices"]:
        one["value"] = TOPIC
    return whole


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("redaction") / "results.json", marked())


@pytest.mark.parametrize("form", FORMS)
def test_without_it_every_mark_is_shown_somewhere(path: Path, form: str) -> None:
    text = FORMS[form](read_report(path, redaction=Redaction()))
    assert INPUT in text
    assert OUTPUT in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("redaction", "hidden", "shown"),
    [
        (Redaction(inputs=True, outputs=True), {INPUT, OUTPUT, QUOTE, TOPIC}, set()),
        (Redaction(inputs=True), {INPUT, QUOTE, TOPIC}, {OUTPUT}),
        (Redaction(outputs=True), {OUTPUT, QUOTE, TOPIC}, {INPUT}),
        (Redaction(inputs=True, outputs=True, keeps_metadata=True), {INPUT, OUTPUT, QUOTE}, set()),
    ],
)
def test_what_is_withheld_is_in_no_form(
    path: Path, form: str, redaction: Redaction, hidden: set[str], shown: set[str]
) -> None:
    text = FORMS[form](read_report(path, redaction=redaction))
    assert {mark for mark in (INPUT, OUTPUT, QUOTE, TOPIC) if mark in text} & hidden == set()
    assert all(mark in text for mark in shown)


def test_an_error_keeps_its_code_and_what_the_registry_says_of_it(path: Path) -> None:
    found = json.loads(json_digest(read_report(path, redaction=Redaction(inputs=True))))
    error = next(group for group in found["errors"] if group["code"] == "pack.evaluator_raised")
    assert error["message"] == "An evaluator raised an exception on this record."
    assert found["redacted"] == ["inputs"]


def test_metadata_and_slices_can_be_kept(path: Path) -> None:
    report = read_report(path, redaction=Redaction(inputs=True, outputs=True, keeps_metadata=True))
    assert report.slices[0].value == TOPIC
    assert TOPIC in html_with_rows(report)


def test_the_words_of_the_flag() -> None:
    assert parse_redaction(None, keeps_metadata=False) == Redaction()
    assert parse_redaction("inputs, outputs", keeps_metadata=True) == Redaction(True, True, True)
    with pytest.raises(UsageError, match=r"'results\.json' is neither"):
        parse_redaction("results.json", keeps_metadata=False)
    with pytest.raises(UsageError, match="--keep-metadata"):
        parse_redaction(None, keeps_metadata=True)
