"""Each built-in pack's README shows the evaluators that its manifest declares, and numbers that are true."""

from __future__ import annotations

import re
import tomllib

import pytest

import evalsi
from evalsi_cli.main import main
from tests.packs.readme_tables import NAMES, PACKS, with_table

COMMAND = re.compile(r"^evalsi (.+)$", re.MULTILINE)
# In the README of core: what is read, and the number in it, or why there is none.
READ = re.compile(r"^\| `(?P<text>[^`]+)` \| (?P<number>none|cannot be read|-?[\d.]+) \|$", re.MULTILINE)

UNREAD = {"none": "The output has no number", "cannot be read": "The last number of the output cannot be read"}


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_evaluators_is_that_of_the_manifest(name: str) -> None:
    readme = (PACKS / name / "README.md").read_text("utf-8")
    tables = tomllib.loads((PACKS / name / "plugin.toml").read_text("utf-8"))
    hint = "The README is stale. Run: python tests/packs/readme_tables.py --write"
    assert with_table(readme, tables) == readme, hint


def test_every_number_that_the_readme_reads_is_read_so() -> None:
    readme = (PACKS / "core/README.md").read_text("utf-8")
    rows = [(match["text"], match["number"]) for match in READ.finditer(readme)]
    assert len(rows) > 15
    records = [{"id": text, "output": text, "reference": "0" if number in UNREAD else number} for text, number in rows]
    results = evalsi.evaluate(
        records, [{"ref": "numeric-match", "params": {"rel_tol": 0, "abs_tol": 0}}], quiet=True
    ).results
    for (text, number), outcome in zip(rows, results, strict=True):
        (score,) = outcome["scores"]
        assert score["passed"] is (number not in UNREAD), text
        assert score.get("explanation", "").startswith(UNREAD.get(number, "")), text


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_the_readme_shows_runs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(PACKS.parents[1])
    commands = COMMAND.findall((PACKS / name / "README.md").read_text("utf-8"))
    assert commands
    for command in commands:
        assert main(command.split()) == 0, capsys.readouterr().err
