"""The hooks are a contract: each one is documented, and its page is the one that the code gives."""

import ast
import importlib
import inspect
import typing
from types import FunctionType
from typing import Any

import pytest

from evalsi_kernel import hooks
from tests.kernel.hooks_page import PAGE, page, specified


def test_there_are_hooks_and_each_has_its_prefix() -> None:
    assert {hook.__name__ for hook in specified()} >= {"evalsi_open_source", "evalsi_interval_method"}
    marked = [name for name, member in vars(hooks).items() if hasattr(member, "evalsi_spec")]
    assert marked == [hook.__name__ for hook in specified()]


@pytest.mark.parametrize("hook", specified(), ids=lambda hook: hook.__name__)
def test_every_hook_says_what_it_is_asked_takes_and_gives(hook: FunctionType) -> None:
    text = inspect.getdoc(hook) or ""
    assert len(text.splitlines()[0]) > 20
    assert "Returns:" in text
    for argument in inspect.signature(hook).parameters:
        assert f"    {argument}: " in text, f"{hook.__name__} does not say what {argument} is"


def seams() -> dict[str, Any]:
    """What the types of the hooks name: the imports that hooks.py makes for the type checker only."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse(inspect.getsource(hooks))):
        if isinstance(node, ast.ImportFrom) and node.module not in (None, "__future__", "typing"):
            module = importlib.import_module(str(node.module))
            found |= {alias.name: getattr(module, alias.name) for alias in node.names}
    return found


@pytest.mark.parametrize("hook", specified(), ids=lambda hook: hook.__name__)
def test_every_hook_is_typed_by_a_seam_of_the_kernel(hook: FunctionType) -> None:
    names = seams()
    assert typing.get_type_hints(hook, localns=names)["return"] is not None


@pytest.mark.parametrize("hook", specified(), ids=lambda hook: hook.__name__)
def test_every_hook_is_on_the_page(hook: FunctionType) -> None:
    assert f"## {hook.__name__}\n" in PAGE.read_text("utf-8")


def test_the_page_is_the_one_that_the_code_gives() -> None:
    assert PAGE.read_text("utf-8") == page(), "Run: python -m tests.kernel.hooks_page --write"
