"""Stand-ins for packages that DeepEval imports at its start and no metric uses: clients of models and of its cloud.

Loading them takes a third of the start. The adapter's process opens no connection, so that nothing here can be needed.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_UNUSED = ("openai", "aiohttp", "requests")


def put_in_place() -> None:
    """Leave out what no metric uses; to be called before DeepEval is imported."""
    leave_out(*_UNUSED)


class Absent(type):
    """The type of a class that is not loaded: it can be named, subclassed and tested against, and has no instances."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _class(name, cls.__module__)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse to make an instance."""
        raise RuntimeError(f"{cls.__module__}.{cls.__name__} is not loaded in a pack. Report this to the adapter.")


class _Module(ModuleType):
    """A module that has a class of any name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _class(name, self.__name__)
        setattr(self, name, made)
        return made


class _Finder:
    """Finds packages that are not loaded, and every module in them."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a stand-in; None leaves a module to the other finders."""
        known = name.partition(".")[0] in self.packages
        return ModuleSpec(name, self, is_package=True) if known else None  # type: ignore[arg-type] # It has both methods.

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the stand-in."""
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Run no code."""


_FINDER = _Finder()


def leave_out(*packages: str) -> None:
    """Import stand-ins for packages from now on; one that is loaded already stays as it is."""
    _FINDER.packages.update(package for package in packages if package not in sys.modules)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _class(name: str, module: str) -> Any:
    # An except clause takes exceptions only.
    if name.endswith(("Error", "Exception", "Timeout")):
        return type(name, (Exception,), {"__module__": module})
    return Absent(name, (), {"__module__": module, "__class_getitem__": classmethod(lambda cls, _: cls)})
