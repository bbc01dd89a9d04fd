"""The page in a real browser: readable without a script, quick with many rows, reached by keyboard, fit for a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from evalsi_reports.html_page import html_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report
from tests.reports.comparer import COMPARER
from tests.reports.pages import PHONE, browser, chromium, opened
from tests.reports.results_files import changed, run, write

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium here: apt-get install chromium")
RECORDS = 400


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a run of 400 records in three trials, with a baseline."""
    folder = tmp_path_factory.mktemp("page")
    whole = run(RECORDS)
    results = write(folder / "results.json", whole)
    baseline = write(folder / "main.json", changed(whole, lambda one: one["results"].reverse()))
    report = read_report(results, redaction=Redaction(), baseline=baseline, compare=COMPARER)
    path = folder / "report.html"
    path.write_text(html_page(report), "utf-8")
    return path


def test_what_matters_is_readable_without_a_script(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file, java_script_enabled=False) as found:
        text = found.page.inner_text("body")
        for words in ("Failed", "4 gates: 1 failed, 1 undecided, 2 passed", "mean ≥ 0.9", "token-f1", "90", "Trials"):
            assert words in text
        assert found.page.locator("#metrics tbody tr").count() == 3
        assert found.page.locator("#lowest details.record").count() == 10
        assert "The list of all records needs JavaScript" in text
        assert not found.page.is_visible("#explorer")


def test_nothing_leaves_the_page_and_the_console_is_silent(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        found.page.click("#list .line >> nth=0")
        assert found.said == []
        assert [url for url in found.asked if url != page_file.as_uri()] == []


def test_only_rows_in_sight_are_elements_and_others_come_when_scrolled(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        page = found.page
        assert page.inner_text("#found") == "1,200 rows of 1,200"
        assert 5 < page.locator("#list .line").count() < 60
        page.evaluate("document.getElementById('list').scrollTop = 1e9")
        page.wait_for_selector("#line-1199")
        assert page.locator("#line-0").count() == 0
        assert page.locator("#list .line").count() < 60


def test_rows_are_filtered_by_outcome_metric_and_text(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        page = found.page
        page.select_option("#outcome", "error")
        assert page.inner_text("#found") == "90 rows of 1,200"
        page.select_option("#outcome", "skipped")
        page.select_option("#metric", label="token-f1")
        assert page.inner_text("#found") == "111 rows of 1,200"
        page.select_option("#outcome", "all")
        page.select_option("#metric", "-1")
        page.fill("#search", "ferry-0399")
        page.wait_for_selector("#found:text-is('3 rows of 1,200')")
        page.fill("#search", "no such words")
        page.wait_for_selector("#found:text-is('0 rows of 1,200')")
        assert page.locator("#list .line").count() == 0


def test_rows_are_sorted(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        page = found.page
        assert "fail" in page.inner_text("#line-0")
        page.select_option("#sort", "data")
        assert page.inner_text("#line-0 .id").startswith("ferry-0001")
        page.select_option("#sort", label="token-f1, falling")
        assert "1.000" in page.inner_text("#line-0")
        page.select_option("#sort", label="llm-judge, slowest first")
        page.click("#line-0")
        assert page.inner_text("#record .says:has-text('llm-judge') small") == "2.4 s"


def test_a_link_from_a_metric_shows_what_failed_it(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        failed = re.match(r"[\d,]+", found.page.inner_text("#metrics a[data-outcome=failed]"))
        assert failed is not None
        found.page.click("#metrics a[data-outcome=failed]")
        assert found.page.inner_text("#found") == f"{failed[0]} rows of 1,200"


def test_the_keyboard_reaches_a_record_its_raw_reply_and_the_way_back(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        page = found.page
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "search"
        for _ in range(4):
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "list"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("PageDown")
        active = page.get_attribute("#list", "aria-activedescendant")
        assert active is not None
        name = page.inner_text(f"#{active} .id bdi")
        page.keyboard.press("Enter")
        assert page.inner_text("#record-title bdi") == name
        assert page.is_visible("#record h3:text('Output')")
        reply = page.locator("#record .reply summary").first
        reply.focus()
        page.keyboard.press("Enter")
        assert '"score"' in page.inner_text("#record .reply pre")
        page.focus("#record-body")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#record-title").endswith("of 1,200")
        page.keyboard.press("Escape")
        assert not page.is_visible("#record")
        assert page.evaluate("document.activeElement.id") == "list"


def test_a_record_has_an_address_and_its_id_elsewhere_leads_to_it(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file) as found:
        found.wait()
        page = found.page
        page.click("#errors .ids a >> nth=1")
        assert page.inner_text("#record-title bdi") == "ferry-0026"
        page.keyboard.press("ArrowRight")
        address = page.url
        assert "#record/ferry-" in address
        title = page.inner_text("#record-title bdi")
        page.keyboard.press("Escape")
        page.wait_for_url("**/report.html#records")
        page.goto(address)
        page.wait_for_selector("#record[open]")
        assert page.inner_text("#record-title bdi") == title
        assert found.said == []


def test_every_table_that_scrolls_can_be_scrolled_by_keyboard_and_has_a_name(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file, java_script_enabled=False) as found:
        regions = found.page.locator(".scrolls")
        for place in range(regions.count()):
            assert regions.nth(place).get_attribute("tabindex") == "0"
            assert regions.nth(place).get_attribute("aria-label")
        drawings = found.page.locator("svg[role=img]")
        assert drawings.count() > 10
        assert all(drawings.nth(place).get_attribute("aria-label") for place in range(drawings.count()))


def test_light_and_dark_follow_the_system(chrome: Browser, page_file: Path) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with opened(chrome, page_file, color_scheme=scheme, java_script_enabled=False) as found:
            style = "getComputedStyle(document.body)"
            colours[scheme] = [found.page.evaluate(f"{style}.{name}") for name in ("backgroundColor", "color")]
    brightness = {
        scheme: [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in both] for scheme, both in colours.items()
    }
    assert brightness["light"][0] > 600 > brightness["light"][1]
    assert brightness["dark"][0] < 200 < brightness["dark"][1]


def test_a_phone_scrolls_downwards_only(chrome: Browser, page_file: Path) -> None:
    with opened(chrome, page_file, viewport=PHONE, device_scale_factor=2, is_mobile=True) as found:
        found.wait()
        page = found.page
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        page.click("#list .line >> nth=0")
        assert page.evaluate("document.getElementById('record').getBoundingClientRect().width") == 375
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
