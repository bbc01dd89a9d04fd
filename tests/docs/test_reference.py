"""The written pages of the reference are what the code gives, and leave nothing out."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from evalsi_cli.main import COMMANDS
from tests.docs import cli_page, evaluators_page, python_page
from tests.docs.reference import COMMAND, FOLDER, PAGES, main, stale, write

EXTENSIONS = FOLDER.parents[1] / "plugins" / "extensions"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_that_the_code_gives(name: str) -> None:
    assert name not in stale(), f"Run: {COMMAND}"


def test_a_page_that_is_missing_or_was_edited_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stale(tmp_path) == list(PAGES)
    write(tmp_path)
    assert stale(tmp_path) == []
    (tmp_path / "cli.md").write_text("edited", encoding="utf-8")
    assert stale(tmp_path) == ["cli.md"]
    assert main(["--check"]) == (1 if stale() else 0)
    assert capsys.readouterr().err.count("Run: ") == len(stale())


def commands_of_extensions() -> set[str]:
    """Those that the extensions of the repository say that they bring."""
    tables = [tomllib.loads(path.read_text("utf-8")) for path in EXTENSIONS.glob("*/src/*/extension.toml")]
    return {name for table in tables for name in table["provides"].get("commands", {})}


def test_every_flag_of_every_command_is_on_its_page_and_says_what_it_does() -> None:
    text = (FOLDER / "cli.md").read_text(encoding="utf-8")
    assert {name.split()[0] for name in cli_page.command_parsers()} == {*COMMANDS, *commands_of_extensions()}
    for name, parser in cli_page.command_parsers().items():
        section = text.partition(f"## evalsi {name}\n")[2].partition("\n## ")[0]
        for action in cli_page.arguments_of(parser):
            assert action.help, f"{name} {action.dest} has no help"
            assert all(f"`{flag}`" in section for flag in action.option_strings)


def test_every_evaluator_and_param_of_the_repository_is_on_its_page() -> None:
    text = (FOLDER / "evaluators.md").read_text(encoding="utf-8")
    for pack in evaluators_page.packs():
        of_pack = text.partition(f"\n## {pack.name}\n")[2].partition("\n## ")[0]
        for evaluator in pack.evaluators:
            section = of_pack.partition(f"### {evaluator.ref}\n")[2].partition("\n### ")[0]
            assert evaluator.summary in section
            assert all(f"| `{param}` |" in section for param in evaluator.params.get("properties", {}))


def test_every_public_name_of_the_sdk_is_on_its_page() -> None:
    assert python_page.left_out() == set()
