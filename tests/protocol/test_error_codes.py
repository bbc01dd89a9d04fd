"""Test the registry of error codes against its uses and its page."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalsi_protocol.error_codes import ERROR_CODES, FAMILIES, ErrorCode, main, page
from evalsi_protocol.errors import RETRIES, SOURCES
from evalsi_protocol.methods import KERNEL_REQUESTS, PACK_REQUESTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "error-codes.md"
TREES = (
    "protocol",
    "sdk",
    "kernel",
    "cli",
    "plugins/extensions/*",
    "plugins/packs/*",
    "adapters/*",
    "adapters/*/bridge",
)
# A file's name can look like a code.
CODE = re.compile(rf"({'|'.join(FAMILIES)})\.(?!(?:jsonl?|toml|csv|md|py|txt|ya?ml|js|wasm|wit)$)[a-z][a-z0-9_]*")


def codes_in(tree: ast.AST) -> Iterator[str]:
    """Every text that looks like a code, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value


def used() -> dict[str, str]:
    """Each code in the sources, and a file that has it."""
    found = {}
    for pattern in TREES:
        for folder in ROOT.glob(f"{pattern}/src"):
            for file in folder.rglob("*.py"):
                if file.name != "error_codes.py":
                    for code in codes_in(ast.parse(file.read_text(encoding="utf-8"))):
                        found[code] = str(file.relative_to(ROOT))
    return {code: file for code, file in found.items() if code not in KERNEL_REQUESTS | PACK_REQUESTS}


@pytest.mark.spec("ERR-1")
def test_every_code_in_the_sources_is_registered() -> None:
    assert {code: file for code, file in used().items() if code not in ERROR_CODES} == {}


@pytest.mark.spec("ERR-1")
def test_every_registered_code_is_used() -> None:
    assert set(ERROR_CODES) - set(used()) == set()


def test_the_search_finds_codes_wherever_they_stand() -> None:
    source = """
raise ConfigError("m", code="config.one")
WireError("pack.two", "m")
code = "kernel.three" if x else "kernel.four"
table = {"code": "pack.five"}
path = "output.json"
"""
    assert set(codes_in(ast.parse(source))) == {"config.one", "pack.two", "kernel.three", "kernel.four", "pack.five"}


@pytest.mark.parametrize("code", ERROR_CODES.values(), ids=lambda one: one.code)
def test_a_registered_code_is_well_formed(code: ErrorCode) -> None:
    assert CODE.fullmatch(code.code)
    assert code.source in SOURCES
    assert code.retry in RETRIES
    assert code.meaning.endswith(".")


def test_the_page_of_error_codes_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "Run: python -m evalsi_protocol.error_codes --write docs/reference/error-codes.md"
    )


def test_the_page_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    assert capsys.readouterr().out == page()
    main(["--write", str(tmp_path / "page.md")])
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == page()
    printed = subprocess.run([sys.executable, "-m", "evalsi_protocol.error_codes"], capture_output=True, check=True)
    assert printed.stdout.decode() == page()
