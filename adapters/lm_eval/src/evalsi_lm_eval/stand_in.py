"""Owns a stand-in for the library `datasets`, which the harness and its tasks import and scoring never uses.

Docs come from records here, so nothing is ever loaded, mapped or filtered. It must not know the harness.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

_NAME = "datasets"
_VERSION = "4.0.0"
"""Below it, the harness would look for features of older versions."""


class NoDatasets(RuntimeError):
    """A task's code wants to load or change a dataset."""


class _Missing:
    """Stands for a class of the library: it can be named in annotations, and not be used."""

    def __init__(self, *_arguments: object, **_named: object) -> None:
        _refuse()

    @classmethod
    def __class_getitem__(cls, _item: object) -> type[_Missing]:
        return cls


class _Library(ModuleType):
    __version__ = _VERSION

    def __getattr__(self, name: str) -> Any:
        # What asks for such a name looks whether the module is a real one.
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing


def put_in_place() -> None:
    """Give the stand-in to whoever imports `datasets` from now on, unless the library is installed."""
    if _NAME not in sys.modules and find_spec(_NAME) is None:
        sys.modules[_NAME] = _Library(_NAME)


def _refuse() -> NoReturn:
    raise NoDatasets("No dataset is loaded here: docs come from the records' metadata.doc.")
