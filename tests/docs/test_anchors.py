"""A link to a place within a page leads to a heading of that page."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE
from tests.docs.walk import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:)(?P<page>[^)#\s]*)#(?P<anchor>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def anchors_of(page: str) -> set[str]:
    """What headings are linked by: small letters, hyphens for blanks, no marks; those alike are numbered."""
    seen = Counter[str]()
    anchors = set()
    for heading in HEADING.findall(FENCE.sub("", page)):
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return anchors


def broken(page: Path) -> list[str]:
    """The links of a page to places that are not there."""
    text = page.read_text(encoding="utf-8")
    targets = [(page.parent / link["page"] if link["page"] else page, link["anchor"]) for link in LINK.finditer(text)]
    return [
        f"{target.name}#{anchor}"
        for target, anchor in targets
        if target.suffix == ".md" and anchor not in anchors_of(target.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_place_within_a_page_leads_to_a_heading(page: Path) -> None:
    assert broken(page) == []


def test_a_link_to_a_place_that_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `two`: 3\n\n## Same\n\n## Same\n\n```text\n# none\n```\n[a](#one-two-3) [b](page.md#same-1)")
    assert broken(page) == []
    page.write_text(page.read_text() + "[c](#none) [d](page.md#same-2)")
    assert broken(page) == ["page.md#none", "page.md#same-2"]
