"""Replace `datasets` and `requests`, which the harness and its tasks import but scoring never uses.

Docs come from records, so no dataset is loaded and nothing is fetched.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

# With older versions the harness would look for other features.
_VERSIONS = {"datasets": "4.0.0", "requests": "2.32.0"}


class NotHere(RuntimeError):
    """A task's code tried to load or change a dataset, or to fetch something."""


class _Missing:
    """Stand-in for a class or function of a library: annotations may name it, but calling it raises `NotHere`."""

    def __init__(self, *_arguments: object, **_named: object) -> None:
        _refuse()

    @classmethod
    def __class_getitem__(cls, _item: object) -> type[_Missing]:
        return cls


class _Library(ModuleType):
    def __init__(self, name: str, version: str) -> None:
        super().__init__(name)
        self.__version__ = version

    def __getattr__(self, name: str) -> Any:
        # Code that asks for a dunder name checks whether the module is real.
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing


def put_in_place() -> None:
    """Install the stand-ins for later imports, unless the libraries are installed."""
    for name, version in _VERSIONS.items():
        if name not in sys.modules and find_spec(name) is None:
            sys.modules[name] = _Library(name, version)


def _refuse() -> NoReturn:
    raise NotHere("Nothing is loaded or fetched here: docs come from the records' metadata.doc.")
