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


@pytest.mark.parametrize("module", MODULES + TESTS, ids=place)
def test_a_file_has_at_most_400_lines(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("module", MODULES + TESTS, ids=place)
def test_a_module_opens_by_saying_what_it_owns(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)) or not text.strip()


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_a_function_has_at_most_60_lines(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    long = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions(tree)}
    assert {name: lines for name, lines in long.items() if lines > 60} == {}


@pytest.mark.parametrize("folder", HOSTS)
def test_the_median_file_is_short(folder: str) -> None:
    (distribution,) = [one for one in distributions() if one.folder == folder]
    lengths = sorted(len(module.read_text(encoding="utf-8").splitlines()) for module in distribution.modules())
    assert lengths[len(lengths) // 2] <= 200


@pytest.mark.parametrize("module", MODULES, ids=place)
def test_no_module_is_named_after_nothing(module: Path) -> None:
    assert module.stem not in {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
