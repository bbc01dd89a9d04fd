"""The form of a module: a file is one idea that says what it owns; a function fits on a screen."""

import ast
from pathlib import Path

import pytest

from tests.architecture.distributions import HOSTS, ROOT, distributions

MODULES = [module for distribution in distributions() for module in distribution.modules()]
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if path.name != "__init__.py")


def place(module: Path) -> str:
    return str(module.relative_to(ROOT))


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_a_file_has_at_most_400_lines() -> None:
    lengths = {place(module): len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES + TESTS}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_a_module_opens_by_saying_what_it_owns() -> None:
    silent = [
        place(module)
        for module in MODULES + TESTS
        if (text := module.read_text(encoding="utf-8")).strip() and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_a_function_has_at_most_60_lines() -> None:
    long = {
        f"{place(module)}: {node.name}": lines
        for module in MODULES
        for node in functions(ast.parse(module.read_text(encoding="utf-8")))
        if (lines := (node.end_lineno or 0) - node.lineno + 1) > 60
    }
    assert long == {}


@pytest.mark.parametrize("folder", HOSTS)
def test_the_median_file_is_short(folder: str) -> None:
    (distribution,) = [one for one in distributions() if one.folder == folder]
    lengths = sorted(len(module.read_text(encoding="utf-8").splitlines()) for module in distribution.modules())
    assert lengths[len(lengths) // 2] <= 200


def test_no_module_is_named_after_nothing() -> None:
    nothing = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [place(module) for module in MODULES if module.stem in nothing] == []
