"""Owns stand-ins for `datasets` and `requests`, which the harness and its tasks import and scoring never uses.

Docs come from records here, so nothing is ever loaded, mapped or fetched. It must not know the harness.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

# The harness looks for features of older versions below these.
_VERSIONS = {"datasets": "4.0.0", "requests": "2.32.0"}


class NotHere(RuntimeError):
    """A task's code wants to load or change a dataset, or to fetch something."""


class _Missing:
    """Stands for a class or function of a library: it can be named in annotations, and not be used."""

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
        # What asks for such a name looks whether the module is a real one.
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing


def put_in_place() -> None:
    """Give the stand-ins to whoever imports the libraries from now on, unless they are installed."""
    for name, version in _VERSIONS.items():
        if name not in sys.modules and find_spec(name) is None:
            sys.modules[name] = _Library(name, version)


def _refuse() -> NoReturn:
    raise NotHere("Nothing is loaded or fetched here: docs come from the records' metadata.doc.")
