"""Every module has a docstring and a name that says what it holds."""

import ast
from pathlib import Path

from tests.architecture.distributions import ROOT, distributions

MODULES = [module for distribution in distributions() for module in distribution.modules()]
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if path.name != "__init__.py")


def place(module: Path) -> str:
    return str(module.relative_to(ROOT))


def test_a_module_opens_by_saying_what_it_owns() -> None:
    silent = [
        place(module)
        for module in MODULES + TESTS
        if (text := module.read_text(encoding="utf-8")).strip() and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_no_module_is_named_after_nothing() -> None:
    nothing = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [place(module) for module in MODULES if module.stem in nothing] == []
