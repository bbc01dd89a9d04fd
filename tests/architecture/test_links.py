"""A link inside the repository leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.architecture.distributions import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("plugins/*/*/README.md")])
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)")

UNWRITTEN = pytest.mark.xfail(reason="the tutorial and the how-to pages are not written yet", strict=True)
WAITING = {"README.md", "docs/index.md"}


def place(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=place(page), marks=[UNWRITTEN] if place(page) in WAITING else []) for page in PAGES],
)
def test_every_relative_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
