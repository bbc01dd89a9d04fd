"""Opens report pages in headless Chromium: one browser for the tests of a process, a fresh profile, no network.

Debian's is found on the PATH (`apt-get install chromium`); EVALSI_CHROMIUM names another. Without any, the tests of
pages are skipped and say so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
BOUND_MS = 30_000
PHONE = {"width": 375, "height": 800}
DESK = {"width": 1280, "height": 900}


class Opened(NamedTuple):
    """A page, and what it said and asked for while it was open."""

    page: Page
    said: list[str]
    asked: list[str]

    def wait(self) -> None:
        """Until the list of records is there."""
        self.page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=BOUND_MS)


def chromium() -> str | None:
    """The browser's path; None where there is none."""
    named = os.environ.get("EVALSI_CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is closed at the end."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=FLAGS, headless=True, timeout=BOUND_MS)
        try:
            yield found
        finally:
            found.close()


@contextmanager
def opened(of: Browser, path: Path, **settings: Any) -> Iterator[Opened]:
    """A page opened from a file; settings are those of a context, such as `java_script_enabled`."""
    context = of.new_context(**{"viewport": DESK, **settings})
    try:
        page = context.new_page()
        page.set_default_timeout(BOUND_MS)
        found = Opened(page, [], [])
        page.on("console", lambda message: found.said.append(message.text))
        page.on("pageerror", lambda error: found.said.append(str(error)))
        page.on("request", lambda request: found.asked.append(request.url))
        page.goto(path.as_uri(), timeout=BOUND_MS)
        yield found
    finally:
        context.close()
