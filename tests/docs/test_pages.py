"""Every command and every Python block of the pages for users works, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import evalsi
from tests.docs.blocks import Block, blocks_of, commands_of, fits
from tests.docs.walk import ROOT, lay_out, type_in, walk

# They need environments of frameworks; `test_adapter_pages` walks through them.
OF_ADAPTERS = [
    ROOT / "docs" / "how-to" / f"{name}.md"
    for name in ("use-framework-metrics", "score-old-logs", "use-evaluators-in-inspect-and-lm-eval")
]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "docs" / "tutorial.md",
        *set((ROOT / "docs" / "how-to").glob("*.md")).difference(OF_ADAPTERS),
        *(ROOT / "docs" / "reference" / f"{name}.md" for name in ("python", "exit-codes", "environment-variables")),
    ]
)
RUN = {"console", "python"}
SHOWN = {"text", "toml", "json", "csv"}
BOOTSTRAP = {"sh", ""}
"""The two commands of the README and their table, which CI runs, and those of the page that `test_install` follows."""


def place(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="session", autouse=True)
def environments() -> None:
    """Environments are built on first use, with a sentence about it; a page shows what a reader sees from then on."""
    for pack in ("core", "text", "judge"):
        done = evalsi("doctor", pack)
        assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_a_reader_can_follow_the_page_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    walk(page, lay_out(tmp_path))


@pytest.mark.parametrize("page", [*PAGES, *OF_ADAPTERS], ids=place)
def test_every_block_of_a_page_is_run_or_is_no_command(page: Path) -> None:
    known = RUN | SHOWN | (BOOTSTRAP if page.name in ("README.md", "install.md") else set())
    strange = [block for block in blocks_of(page.read_text(encoding="utf-8")) if block.language not in known]
    assert strange == []


CONSOLE = Block("console", "$ echo one \\\n    two\none two\n$ true\n$ ls | head\na\n\nb\n", 1, False)


def test_a_command_goes_on_after_a_backslash_and_its_output_up_to_the_next_command() -> None:
    first, second, third = commands_of(CONSOLE)
    assert (first.words, first.promised) == ("echo one \\\n    two", "one two")
    assert (second.words, second.promised) == ("true", "")
    assert third.promised == "a\n\nb"


def test_an_ellipsis_stands_for_anything_in_a_line_and_alone_for_any_lines() -> None:
    assert fits("built in … s", "built in 1.4 s\n")
    assert fits("a\n…\nz", "a\nb\nc\nz\n")
    assert fits("a\n…\nz", "a\nz\n")
    assert fits("", "\n")
    assert not fits("built in … s", "built in\n1.4 s")
    assert not fits("a", "a\nb")
    assert not fits("a.c", "abc")
    assert not fits("", "something")


@pytest.mark.parametrize("text", ["$ echo two\none\n", "$ false\n", "$ exit 0\n"])
def test_a_block_that_prints_something_else_hides_a_failure_or_ends_the_shell_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        type_in(Block("console", text, 1, False), tmp_path, "here")


def test_an_exit_code_that_a_page_asks_for_may_be_a_failure(tmp_path: Path) -> None:
    type_in(Block("console", "$ (exit 3)\n$ echo $?\n3\n", 1, False), tmp_path, "here")
