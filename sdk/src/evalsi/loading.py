"""Load evaluators from a pack's module, a Python file, or functions and classes."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from evalsi.definition import Definition, attached_to, definition_of

if TYPE_CHECKING:
    from pathlib import Path

_PASSED_OVER = (os.path.dirname(__file__), os.path.dirname(importlib.__file__))


class LoadError(Exception):
    """The code cannot be imported, or has no such evaluator. The message includes a hint."""


def from_module(name: str, attribute: str = "") -> dict[str, Definition]:
    """Return the evaluators of an importable module: the named one, or all that it lists or decorates.

    Args:
        name: dotted name, as in an import.
        attribute: a name in the module, or the name of one of its evaluators; "" takes all.

    Raises:
        LoadError: the module is missing, fails on import, or has no such attribute or no evaluator.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise LoadError(f"{name!r} is not a module name. Write it as in an import: package.module.")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise LoadError(f"There is no module {name!r}. Check the name, or install the package.") from error
        _fail(f"The module {name!r}", error)
    except Exception as error:  # noqa: BLE001 -- importing runs an author's code, which may raise anything.
        _fail(f"The module {name!r}", error)
    return _pick(module, name, attribute)


def from_file(path: Path, attribute: str = "") -> dict[str, Definition]:
    """Return the evaluators of a Python file, whose folder is added to the import path.

    Args:
        path: path of a `.py` file.
        attribute: as for `from_module`.

    Raises:
        LoadError: the file is missing, fails on import, or has no such attribute or no evaluator.
    """
    if not path.is_file():
        raise LoadError(f"There is no file {path}. Check the path.")
    path = path.resolve()
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path.name} is not a Python file. Pass a .py file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 -- as above.
        del sys.modules[name]
        _fail(path.name, error)
    return _pick(module, path.name, attribute)


def from_objects(targets: Iterable[Any], *, qualify: bool = False) -> dict[str, Definition]:
    """Return the evaluators for functions and classes.

    Args:
        targets: the functions and classes.
        qualify: prefix equal names with the names of their modules.

    Raises:
        LoadError: two evaluators have the same name.
        TypeError: one of the targets cannot be an evaluator.
    """
    found: dict[str, Definition] = {}
    definitions = [definition_of(target) for target in targets]
    names = [definition.name for definition in definitions]
    for definition in definitions:
        module = str(getattr(definition.target, "__module__", "")).rpartition(".")[2]
        if qualify and names.count(definition.name) > 1 and module and "/" not in definition.name:
            definition = definition._replace(name=f"{module}/{definition.name}")  # noqa: PLW2901
        if definition.name in found:
            raise LoadError(f"Two evaluators are named {definition.name!r}. Rename one with @evaluator(name=…).")
        found[definition.name] = definition
    return found


def _pick(module: ModuleType, where: str, attribute: str) -> dict[str, Definition]:
    try:
        if attribute and hasattr(module, attribute):
            return from_objects([getattr(module, attribute)])
        listed = from_objects(_listed(module))
    except (LoadError, TypeError, ValueError) as error:
        raise LoadError(f"{where}: {error}") from error
    if attribute:
        if attribute not in listed:
            raise LoadError(f"{where} has no {attribute!r}. It has {_names(module, listed)}.")
        return {attribute: listed[attribute]}
    if not listed:
        raise LoadError(f"{where} has no evaluator. Decorate a function with @evaluator, or select one: {where}:NAME.")
    return listed


def _listed(module: ModuleType) -> list[Any]:
    """Return what the module lists in EVALUATORS or, without that list, all decorated targets; each once."""
    listed = getattr(module, "EVALUATORS", None)
    if listed is None:
        values = vars(module).values()
        listed = [value for value in values if attached_to(value) is not None]
    elif not isinstance(listed, (list, tuple)):
        raise TypeError(f"EVALUATORS is {listed!r}. Write a list: EVALUATORS = [{module.__name__}.NAME].")
    return list({id(target): target for target in listed}.values())


def _names(module: ModuleType, listed: Iterable[str]) -> str:
    """Return the module's own names that could have been meant."""
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
    ]
    return ", ".join(dict.fromkeys([*own, *listed])) or "no function"


def _module_name(path: Path) -> str:
    """Return the file's stem, so that files next to it can import it; another name if the stem is taken."""
    stem = path.stem
    loaded = sys.modules.get(stem)
    taken = stem in sys.stdlib_module_names or (loaded is not None and getattr(loaded, "__file__", None) != str(path))
    return f"evalsi_file_{stem}" if taken else stem


def _fail(what: str, error: Exception) -> NoReturn:
    """Raise a `LoadError` that states the error in the code and its location."""
    if isinstance(error, SyntaxError):
        place = _at(error.filename or what, error.lineno)
        raise LoadError(f"{place}: {error.msg}. Correct that line.") from error
    place = _place(error)
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        raise LoadError(
            f"{what} needs the module {error.name!r}, which is not installed ({place}). Install it."
        ) from error
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    raise LoadError(f"{what} cannot be imported: {place}: {message.rstrip('.')}. Correct that line.") from error


def _place(error: Exception) -> str:
    """Return the innermost location of the author's code, which is in the folder of the first frame."""
    import traceback  # Imported late, here and below: only errors need it.
    from pathlib import Path

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_authors(frame.filename)]
    if not frames:
        return "during its import"
    folder = Path(frames[0].filename).parent
    own = [frame for frame in frames if folder in Path(frame.filename).parents]
    return _at(own[-1].filename, own[-1].lineno)


def _is_authors(file: str) -> bool:
    return not file.startswith("<frozen") and os.path.dirname(file) not in _PASSED_OVER


def _at(file: str, line: int | None) -> str:
    from pathlib import Path

    path = Path(file)
    name = f"{path.parent.name}/{path.name}" if path.stem == "__init__" else path.name
    return name if line is None else f"{name}, line {line}"
