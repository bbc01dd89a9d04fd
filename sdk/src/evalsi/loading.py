"""Where a host's evaluators come from: a pack's module, a user's file, or objects at hand.

It imports code; it must not know the wire.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from evalsi.definition import Definition, definition_of


class LoadError(Exception):
    """The code cannot be imported or holds no such evaluator; a sentence with a mend."""


def from_module(name: str, attribute: str = "") -> dict[str, Definition]:
    """The evaluators of an importable module: the one named, or all that it lists or decorates.

    Raises:
        LoadError: no such module, no such attribute, or no evaluator in it.
    """
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise LoadError(f"There is no module {name!r}. Check the name, or install what holds it.") from error
        raise LoadError(f"The module {name!r} needs {error.name!r}, which is not installed. Install it.") from error
    return _pick(module, name, attribute)


def from_file(path: Path, attribute: str = "") -> dict[str, Definition]:
    """The evaluators of a Python file; its folder is importable for it.

    Raises:
        LoadError: no such file, or no evaluator in it.
    """
    if not path.is_file():
        raise LoadError(f"There is no file {path}. Check the path.")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path} is no Python file. Name a .py file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return _pick(module, str(path), attribute)


def from_objects(targets: Iterable[Any]) -> dict[str, Definition]:
    """The evaluators given as functions or classes.

    Raises:
        LoadError: two of them have one name.
        TypeError: one of them cannot be an evaluator.
    """
    found: dict[str, Definition] = {}
    for target in targets:
        definition = definition_of(target)
        if definition.name in found:
            raise LoadError(f"Two evaluators are named {definition.name!r}. Give one another name: @evaluator(name=…).")
        found[definition.name] = definition
    return found


def _pick(module: ModuleType, where: str, attribute: str) -> dict[str, Definition]:
    if attribute:
        if not hasattr(module, attribute):
            raise LoadError(f"{where} has no {attribute!r}. It has {_names(module)}.")
        return from_objects([getattr(module, attribute)])
    listed = getattr(module, "EVALUATORS", None)
    if listed is None:
        listed = [value for value in vars(module).values() if isinstance(getattr(value, "__evalsi__", None), Definition)]
    if not listed:
        raise LoadError(f"{where} has no evaluator. Decorate a function with @evaluator, or name one: {where}:NAME.")
    return from_objects(listed)


def _names(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    return ", ".join(names) or "no function"
