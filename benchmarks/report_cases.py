"""The cases of a report: how long it takes, how large its page is, and how soon Chromium shows it by its own clock.

Without a Chromium the last is left out.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import run
from benchmarks.report_data import write_results
from benchmarks.rows import Bench, Row

EVALSI = str(Path(sys.executable).with_name("evalsi"))
RECORDS = 5_000
MOST_S, MOST_MB, MOST_OPEN_MS = 2.0, 3.0, 1_000.0
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
TIMES = """() => ({
    loaded: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
    painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    listed: performance.now(),
})"""


def page(bench: Bench) -> Iterator[Row]:
    """A page of 5,000 records of usual size."""
    results = write_results(bench.folder / f"results-{RECORDS}.json", RECORDS)
    made = bench.folder / "report.html"
    runs = [run([EVALSI, "report", str(results), "-o", str(made), "--quiet"]) for _ in range(bench.rounds)]
    wall_s, peak_mb = median(one.wall_s for one in runs), max(one.peak_mb for one in runs)
    size_mb = made.stat().st_size / 1_000_000
    what = f"`evalsi report` of {RECORDS:,} records ({results.stat().st_size / 1_000_000:.0f} MB)"
    yield Row(f"{what}: page", f"{wall_s:.2f} s, {peak_mb:.0f} MB", "", f"{wall_s:.2f} s", "≤ 2 s", wall_s <= MOST_S)
    yield Row(f"{what}: size", f"{size_mb:.2f} MB", "", f"{size_mb:.2f} MB", "≤ 3 MB", size_mb <= MOST_MB)
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is not None:
        times = _opened(browser, made, bench.rounds)
        yield Row(
            f"{what}: opened in Chromium",
            f"first paint {times['painted']:.0f} ms, list of records {times['listed']:.0f} ms",
            "",
            f"DOMContentLoaded {times['loaded']:.0f} ms",
            "≤ 1 s",
            max(times["loaded"], times["painted"]) <= MOST_OPEN_MS,
        )


def _opened(browser: str, made: Path, rounds: int) -> dict[str, float]:
    """Medians over fresh profiles."""
    from playwright.sync_api import sync_playwright

    times: list[dict[str, Any]] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        for _ in range(rounds):
            context = chromium.new_context()
            opened = context.new_page()
            opened.goto(made.as_uri())
            opened.wait_for_selector("html[data-ready=yes]", state="attached")
            times.append(opened.evaluate(TIMES))
            context.close()
        chromium.close()
    return {name: median(one[name] for one in times) for name in times[0]}


REPORT_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {"report": page}
