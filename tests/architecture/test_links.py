"""A link inside the repository leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.architecture.distributions import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("plugins/*/*/README.md"),
        *ROOT.glob("adapters/*/README.md"),
        *ROOT.glob("adapters/*/bridge/README.md"),
    ]
)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)")


def place(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_every_relative_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
