"""C7: at 390 px no page cuts off a column, and rows of records keep the question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from evalsi_comparison.comparison import Wanted, compare
from evalsi_comparison.page import html_report
from evalsi_reports.html_page import html_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report
from tests.comparison.results_files import write_results
from tests.reports.comparer import COMPARER
from tests.reports.pages import browser, chromium, opened

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium here: apt-get install chromium")
WIDTHS = [390, 1280]
# Visible cells whose right or left end is outside of the page, or that hold more than they show.
CUT_OFF = """() => [...document.querySelectorAll('td, th')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && (box.right > innerWidth + 1 || box.left < -1 || one.scrollWidth > one.clientWidth + 2);
}).map(one => one.textContent)"""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The report with a baseline, and the page of the comparison, of the same two runs."""
    folder = tmp_path_factory.mktemp("narrow")
    questions = {
        f"a-record-with-a-long-id-{at}": f"Question {at}: why is it so, and not otherwise?" for at in range(30)
    }

    def values(wrong: int) -> dict[str, Any]:
        passing = {record: at >= wrong for at, record in enumerate(questions)}
        return {
            "exact-match": passing,
            "a-metric-of-a-rather-long-name-such-as-context-precision": {
                r: float(one) / 3 for r, one in passing.items()
            },
        }

    sides = []
    for name, wrong in (("base", 0), ("candidate", 12)):
        prompt = {"target": {"model": f"model-{name}", "prompt": f"Answer for {name} in one word, please. " * 4}}
        sides.append(write_results(folder / f"{name}.json", values(wrong), inputs=questions, manifest=prompt))
    report = read_report(sides[1], redaction=Redaction(), baseline=sides[0], compare=COMPARER)
    found = {"report": folder / "report.html", "compare": folder / "compare.html"}
    found["report"].write_text(html_page(report), "utf-8")
    found["compare"].write_text(html_report(compare(Wanted(sides[0], sides[1]))), "utf-8")
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["report", "compare"])
def test_c7_no_column_is_cut_off(chrome: Browser, pages: dict[str, Path], name: str, width: int) -> None:
    with opened(chrome, pages[name], viewport={"width": width, "height": 844}) as found:
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.page.evaluate(CUT_OFF) == []
        found.page.screenshot(path=str(pages[name].with_name(f"{name}-{width}.png")), full_page=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_c7_rows_of_records_show_the_question(chrome: Browser, pages: dict[str, Path], width: int) -> None:
    with opened(chrome, pages["report"], viewport={"width": width, "height": 844}) as found:
        found.wait()
        failed = found.page.locator(".record > summary .line").first
        # On a wide page the line ends in an ellipsis, beside the scores.
        assert width > 720 or failed.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
        assert "Question" in failed.inner_text()
        line = found.page.locator("#list .line").first
        question = line.locator(".excerpt")
        assert question.is_visible()
        assert "Question" in question.inner_text()
        outer, inner = line.bounding_box(), question.bounding_box()
        assert outer is not None
        assert inner is not None
        assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_c7_a_narrow_comparison_names_each_cell_and_the_question(chrome: Browser, pages: dict[str, Path]) -> None:
    with opened(chrome, pages["compare"], viewport={"width": 390, "height": 844}) as found:
        label = "getComputedStyle(document.querySelector('.metrics td:nth-child(3)'), '::before').content"
        assert "base" in found.page.evaluate(label)
        assert found.page.locator(".asked").first.is_visible()
