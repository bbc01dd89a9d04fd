"""Texts of strangers: no form takes them for markup, none breaks a page, and long ones are cut with a note."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evalsi_reports.html_page import MAX_BYTES, html_page
from evalsi_reports.json_digest import json_digest
from evalsi_reports.junit import junit
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import ReportData, read_report
from evalsi_reports.shown_text import visible
from tests.reports.pages import PHONE, browser, chromium, opened
from tests.reports.results_files import run, write

NASTY = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<!-- ]]> {{ 7*7 }} {% raw %} | a | b |\n```\n</details>\n# owned\n@everyone #1 https://evil.example &lt;"
    "\u202eevil\u202c \x00\x1b[31m\ufeff\u2028 \ud800 \x7f\x9b"
)


def nasty(size: int = 20) -> dict[str, Any]:
    """A run in which every text that a stranger can write is nasty."""
    whole = run(size)
    names = {"exact-match": f"a{NASTY}", "token-f1": f"b{NASTY}", "llm-judge": f"c{NASTY}"}
    for record in whole["records"]:
        record |= {
            "input": NASTY,
            "output": {"messages": [{"role": NASTY, "content": NASTY}]},
            "metadata": {NASTY: NASTY},
        }
        record |= {"id": f"{record['id']}{NASTY}", "reference": [NASTY], "context": [{"json": {NASTY: NASTY}}]}
    for result in whole["results"]:
        result |= {"record_id": f"{result['record_id']}{NASTY}", "evaluator": names[result["evaluator"]]}
        for score in result.get("scores", ()):
            score |= {"name": names[score["name"]], "explanation": NASTY}
        if "reason" in result:
            result["reason"] = NASTY
        if "error" in result:
            result["error"] = result["error"] | {"message": NASTY, "hint": NASTY, "code": NASTY}
    for summary in whole["summaries"]:
        summary |= {"metric": names[summary["metric"]], "evaluator": names[summary["evaluator"]], "unit": NASTY}
    for reply in whole["judge_replies"]:
        reply |= {"text": NASTY, "model": NASTY, "problem": NASTY}
    for gate in whole["gates"]:
        gate |= {"metric": names[gate["metric"]], "reason": NASTY, "slice": {NASTY: NASTY}, "baseline": NASTY}
    for one in whole["slices"]:
        one |= {"by": NASTY, "value": NASTY}
    whole["manifest"] |= {"name": NASTY, "error": {"message": NASTY}, "status": NASTY, "labels": {NASTY: NASTY}}
    whole["manifest"]["target"] = {"model": NASTY}
    whole["manifest"]["dataset"] |= {"source": NASTY}
    return whole


def report_of(folder: Path, whole: dict[str, Any], **settings: Any) -> ReportData:
    path = folder / "results.json"
    path.write_text(json.dumps(whole), "ascii")
    return read_report(path, redaction=Redaction(), **settings)


def test_a_page_of_nasty_texts_is_a_page(tmp_path: Path) -> None:
    page = html_page(report_of(tmp_path, nasty()))
    page.encode()
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<img" not in page
    for unseen in ("\u202e", "\x00", "\x1b", "\ufeff", "\u2028", "\ud800"):
        assert unseen not in page
    assert "⟨U+202E⟩" in page


@pytest.mark.skipif(chromium() is None, reason="no Chromium here: apt-get install chromium")
def test_nasty_texts_do_nothing_in_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html_page(report_of(tmp_path, nasty())), "utf-8")
    with browser() as chrome, opened(chrome, path, viewport=PHONE) as found:
        found.wait()
        found.page.click("#list .line >> nth=0")
        assert "owned" not in found.page.title()[:20]
        assert found.page.locator("img").count() == 0
        assert found.said == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert found.page.inner_text("#record .text.input pre").startswith("</script><script>document.title")


def test_markdown_of_nasty_texts_keeps_its_form(tmp_path: Path) -> None:
    page = markdown_page(report_of(tmp_path, nasty()))
    page.encode()
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", page, flags=re.DOTALL | re.MULTILINE)
    outside = outside.replace("\\`", "")
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", outside)
    assert "<script" not in outside
    assert "<img" not in outside
    assert not re.search(r"^# owned", outside, re.MULTILINE)
    assert outside.count("<details>") == outside.count("</details>")
    assert "@everyone" not in outside
    assert "https://evil" not in outside
    header = [line for line in outside.splitlines() if line.startswith("| verdict")]
    rows = [line for line in outside.splitlines() if line.startswith("| ✗ failed")]
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in (*header, *rows)]
    assert len(cells) == 2
    assert len(set(cells)) == 1


def test_junit_of_nasty_texts_is_xml(tmp_path: Path) -> None:
    text = junit(report_of(tmp_path, nasty()), with_records=True)
    root = ElementTree.fromstring(text.encode())
    assert len(list(root.iter("testcase"))) > 20


def test_json_of_nasty_texts_is_json(tmp_path: Path) -> None:
    text = json_digest(report_of(tmp_path, nasty()))
    assert json.loads(text.encode())["verdict"] == "fail"


def test_an_output_of_ten_megabytes_is_cut_with_a_note(tmp_path: Path) -> None:
    whole = run(20)
    for record in whole["records"]:
        if record["id"] == "ferry-0005":
            record["output"] = "long " * 2_000_000
    report = report_of(tmp_path, whole)
    page = html_page(report)
    assert len(page.encode()) < 500_000
    assert "9,996,000 more characters are in the results file." in page
    assert "9,998,500 more characters" in markdown_page(report)


def test_many_long_records_fit_into_the_page_and_say_what_was_cut(tmp_path: Path) -> None:
    whole = run(1_000, trials=1)
    noise = base64.b85encode(zlib.compress(json.dumps(whole["results"]).encode())).decode()
    for place, record in enumerate(whole["records"]):
        start = place * 61 % (len(noise) - 6_000)
        record["output"] = noise[start : start + 6_000][:: 1 + place % 3] + str(place)
        record["input"] = noise[start : start + 5_000][::-1]
    page = html_page(report_of(tmp_path, whole))
    assert len(page.encode()) <= MAX_BYTES
    assert "Texts are cut in this list" in page or "characters are cut in this list" in page


def test_what_cannot_be_seen_is_made_visible() -> None:
    assert visible("plain ascii") == "plain ascii"
    assert visible("a\u202eb\x00c\r\nd\ud800") == "a⟨U+202E⟩b⟨U+0000⟩c\nd⟨U+D800⟩"
    assert visible("emoji 👩‍🔬 and العربية stay") == "emoji 👩‍🔬 and العربية stay"


def test_a_file_written_with_unpaired_surrogates_is_read(tmp_path: Path) -> None:
    whole = run(5)
    whole["records"][0]["output"] = "half \ud83d of it"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(whole))
    assert "⟨U+D83D⟩" in html_page(read_report(path, redaction=Redaction(), worst_count=20))
    write(path, run(5))
