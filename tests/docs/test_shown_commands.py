"""No command is shown that there is not: what no test walks is read by the command's own parser."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.main import build_parser
from evalsi_cli.parsing import first_word
from evalsi_kernel.packs.catalog import Catalog, load_catalog
from evalsi_kernel.packs.params import check_params, parse_param_assignments
from tests.docs.blocks import blocks_of
from tests.docs.test_pages import OF_ADAPTERS, PAGES
from tests.docs.walk import ROOT

SHELL = {"console", "sh", "bash", "shell"}
READMES = sorted(
    [*ROOT.glob("plugins/*/*/README.md"), *ROOT.glob("adapters/*/README.md"), *ROOT.glob("adapters/*/bridge/README.md")]
)


def commands(page: Path) -> list[list[str]]:
    """The words of each `evalsi …` that a page shows in a block for a shell."""
    shown = [block.text.replace("\\\n", " ") for block in blocks_of(page.read_text("utf-8")) if block.language in SHELL]
    texts = [text for block in shown for text in re.split(r"(?m)^\$ ", block) if text.startswith("evalsi ")]
    return [[word for word in shlex.split(text) if word != "…"][1:] for text in texts]


def shown() -> list[Any]:
    return [
        pytest.param(words, id=f"{page.parent.name}: {' '.join(words)[:60]}")
        for page in READMES
        for words in commands(page)
    ]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return load_catalog([ROOT / "plugins" / "packs", ROOT / "adapters"], tmp_path_factory.mktemp("catalog"))


@pytest.mark.parametrize("words", shown())
def test_a_command_of_a_readme_is_one_that_the_parser_takes(words: list[str], catalog: Catalog) -> None:
    if words[0] == "eval" and "--data" not in words:
        # It stands after an ellipsis.
        words = [*words, "--data", "qa.jsonl"]
    options = build_parser(first_word(words)).parse_args(words)
    evaluators = [name for named in getattr(options, "evaluators", ()) for name in named.split(",")]
    if getattr(options, "evaluator", None):
        evaluators.append(options.evaluator)
    found = {info.name: info for info in map(catalog.resolve, evaluators)}
    for name, params in parse_param_assignments(getattr(options, "param", ())).items():
        check_params(name, found[name].params, params)


def test_readmes_show_commands_at_all() -> None:
    assert len(shown()) > 15


def test_a_page_that_shows_a_command_is_one_that_is_walked() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    showing = [page for page in pages if any(one.language in SHELL for one in blocks_of(page.read_text("utf-8")))]
    assert [page.name for page in showing if page not in [*PAGES, *OF_ADAPTERS]] == ["benchmarks.md"]


def test_every_verb_that_a_page_names_is_there() -> None:
    named = {
        verb
        for page in (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "benchmarks.md")
        for verb in re.findall(r"(?m)(?:`|^)just ([a-z-]+)", page.read_text("utf-8"))
    }
    assert named >= {"check", "test", "bench"}
    listed = subprocess.run(["just", "--summary"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert named <= set(listed)
