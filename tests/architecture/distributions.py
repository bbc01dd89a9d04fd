"""The distributions of this repository, read from its folders and pyproject files.

Knows where source lies and what each distribution declares; knows nothing of what the code does.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[2]

HOSTS = ("protocol", "sdk", "kernel", "cli")
# Libraries whose module has another name.
MODULES = {
    "cel-python": "celpy",
    "google-re2": "re2",
    "markdown-it-py": "markdown_it",
    "backports.zstd": "backports",
    "python-stdnum": "stdnum",
    "pyyaml": "yaml",
}

Kind = Literal["member", "pack", "bridge"]


@dataclass(frozen=True)
class Distribution:
    """One folder with a pyproject.toml.

    Args:
        folder: its path from the root.
        package: its one import package.
        kind: a member of the workspace, a pack (adapters too), or a bridge, which a framework's users install.
    """

    folder: str
    package: str
    kind: Kind

    @property
    def is_pack(self) -> bool:
        return self.kind == "pack"

    @property
    def is_member(self) -> bool:
        return self.kind == "member"

    @property
    def path(self) -> Path:
        return ROOT / self.folder

    @property
    def project(self) -> dict[str, Any]:
        project: dict[str, Any] = read_toml(self.path / "pyproject.toml")["project"]
        return project

    @property
    def declared(self) -> set[str]:
        """Names of the distributions it depends on, extras included."""
        wanted = list(self.project.get("dependencies", []))
        for extra in self.project.get("optional-dependencies", {}).values():
            wanted += extra
        return {re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0].lower() for line in wanted}

    def modules(self) -> list[Path]:
        return sorted((self.path / "src").rglob("*.py"))


@cache
def module_of(library: str) -> str:
    """The module that a library of a package index brings."""
    return MODULES.get(library, library.replace("-", "_"))


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def folders(*patterns: str) -> list[Path]:
    return sorted(path.parent for pattern in patterns for path in ROOT.glob(f"{pattern}/pyproject.toml"))


@cache
def distributions() -> tuple[Distribution, ...]:
    """Every distribution that carries code: the workspace's members, packs and adapters, then bridges."""
    workspace = read_toml(ROOT / "pyproject.toml")["tool"]["uv"]["workspace"]
    patterns: dict[Kind, list[str]] = {
        "member": workspace["members"],
        "pack": ["plugins/packs/*", "adapters/*"],
        "bridge": ["adapters/*/bridge"],
    }
    return tuple(
        Distribution(str(folder.relative_to(ROOT)), only_package(folder), kind)
        for kind, wanted in patterns.items()
        for folder in folders(*wanted)
    )


def only_package(folder: Path) -> str:
    packages = [child.name for child in (folder / "src").iterdir() if child.is_dir() and child.name.isidentifier()]
    if len(packages) != 1:
        raise AssertionError(f"{folder}/src must hold exactly one package, not {packages}.")
    return packages[0]


def packs() -> list[Distribution]:
    return [distribution for distribution in distributions() if distribution.is_pack]


def bridges() -> list[Distribution]:
    return [distribution for distribution in distributions() if distribution.kind == "bridge"]


@dataclass(frozen=True)
class Import:
    """One import statement: the module it names, its line, and whether it waits inside a function or a type check."""

    target: str
    line: int
    in_function: bool
    for_types: bool

    @property
    def top(self) -> str:
        return self.target.partition(".")[0]


def imports_of(module: Path) -> list[Import]:
    return list(walk_imports(ast.parse(module.read_text(encoding="utf-8")), in_function=False, for_types=False))


def walk_imports(node: ast.AST, *, in_function: bool, for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, in_function, for_types)
        elif isinstance(child, ast.ImportFrom):
            yield Import("." * child.level + (child.module or ""), child.lineno, in_function, for_types)
        else:
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            checking = for_types or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test))
            yield from walk_imports(child, in_function=inside, for_types=checking)
