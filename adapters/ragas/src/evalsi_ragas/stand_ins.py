"""Replace packages that RAGAS imports but no metric uses, and switch off its telemetry.

The packages are `datasets`, clients of models and a tracing service. They would add 300 MB and double the start time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_UNUSED = ("datasets", "langchain_openai", "langsmith", "openai", "requests")


def put_in_place() -> None:
    """Install the stand-ins. Call this before RAGAS is imported."""
    is_real = "langsmith" in sys.modules
    leave_out(*_UNUSED)
    if not is_real:
        # LangChain calls these for each group of calls, traced or not.
        vars(import_module("langsmith.run_helpers"))["get_tracing_context"] = _no_tracing
        vars(import_module("langsmith.utils"))["tracing_is_enabled"] = lambda: False


def switch_off(analytics: ModuleType) -> None:
    """Keep RAGAS' telemetry (`ragas._analytics`) from writing a user id to a file, and end its thread.

    RAGAS does both even if telemetry is off. Without a folder it makes an id for this process only.
    """
    vars(analytics)["user_data_dir"] = _nowhere
    analytics._analytics_batcher.shutdown()


def _nowhere(appname: str) -> str:
    raise OSError(f"There is no folder for {appname} here.")


def _no_tracing() -> dict[str, Any]:
    return dict.fromkeys(("parent", "project_name", "tags", "metadata", "enabled", "client"))


class Absent(type):
    """Metaclass of stand-in classes, which can be named, subclassed and tested against but not instantiated."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _class(name, cls.__module__)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError instead of creating an instance."""
        raise RuntimeError(f"{cls.__module__}.{cls.__name__} is not loaded in a pack. Report this to the adapter.")


class _Module(ModuleType):
    """A module that returns a stand-in class for any name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _class(name, self.__name__)
        setattr(self, name, made)
        return made


class _Finder:
    """Import finder for the replaced packages and all their submodules."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a stand-in; None leaves a module to the other finders."""
        known = name.partition(".")[0] in self.packages
        return ModuleSpec(name, self, is_package=True) if known else None  # type: ignore[arg-type] # It has both methods.

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the stand-in module."""
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Run no code."""


_FINDER = _Finder()


def leave_out(*packages: str) -> None:
    """Replace packages on later imports; a package that is already loaded is left as it is."""
    _FINDER.packages.update(package for package in packages if package not in sys.modules)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _class(name: str, module: str) -> Any:
    # An except clause accepts exception classes only.
    if name.endswith(("Error", "Exception", "Timeout")):
        return type(name, (Exception,), {"__module__": module})
    return Absent(name, (), {"__module__": module, "__class_getitem__": classmethod(lambda cls, _: cls)})
