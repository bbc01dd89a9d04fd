"""The pages that are written by hand name what the code has: every variable it reads, every code it exits with."""

from __future__ import annotations

import re
from pathlib import Path

from evalsi_cli import faults
from evalsi_cli.main import CLOSED_PIPE
from tests.docs.walk import ROOT

VARIABLE = re.compile(r"\bEVALSI_[A-Z][A-Z0-9_]*\b")
READ = re.compile(r"""environ(?:\.get\(|\[)?\s*["']([A-Z][A-Z0-9_]+)["']|["']([A-Z][A-Z0-9_]+)["'] in os\.environ""")
FIRST_CELL = re.compile(r"^\| `?([^`| ]+)`? \|", re.MULTILINE)


def sources() -> list[Path]:
    folders = [ROOT / name for name in ("protocol", "sdk", "kernel", "cli")]
    patterns = ("plugins/*/*", "adapters/*", "adapters/*/bridge")
    folders += [path for pattern in patterns for path in ROOT.glob(pattern) if path.is_dir()]
    return [path for folder in folders for path in sorted((folder / "src").rglob("*.py"))]


def first_cells(page: str) -> list[str]:
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    return [cell for cell in FIRST_CELL.findall(text) if cell not in {"variable", "code"}]


def test_every_variable_that_the_code_names_is_on_its_page_and_no_other() -> None:
    named = {name for path in sources() for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert {name for name in first_cells("environment-variables.md") if name.startswith("EVALSI_")} == named


def test_every_variable_that_the_code_reads_by_name_is_on_its_page() -> None:
    read = {
        name for path in sources() for pair in READ.findall(path.read_text(encoding="utf-8")) for name in pair if name
    }
    assert read >= {"EVALSI_HOME", "NO_COLOR"}
    text = (ROOT / "docs" / "reference" / "environment-variables.md").read_text(encoding="utf-8")
    assert [name for name in sorted(read) if name not in text] == []


def test_every_code_that_the_command_exits_with_is_on_its_page_and_no_other() -> None:
    codes = {
        value
        for name, value in vars(faults).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, int)
    }
    codes |= {CLOSED_PIPE}
    assert codes >= {0, 1, 2, 130, 141}
    assert {int(cell) for cell in first_cells("exit-codes.md")} == codes
