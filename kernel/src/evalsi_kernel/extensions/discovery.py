"""Find the installed extensions by their entry points and read each extension.toml, without importing any.

Used only when the index is out of date, because importlib.metadata and pydantic are slow to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from evalsi_kernel.checking.problems import Problem
from evalsi_kernel.checking.toml_tables import DottedName, FilledLine, Table, check_table, read_toml
from evalsi_kernel.checking.value_schema import value_problems
from evalsi_kernel.errors import ConfigError, EvalsiError
from evalsi_kernel.extensions.info import ExtensionInfo

GROUP = "evalsi.extensions"
MANIFEST = "extension.toml"
FORMAT = 1

_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}}
_ALONE = ("stdin", "environments", "judge_cache", "batches", "price_files", "admission", "gate_warnings", "conditions")
_KINDS: dict[str, dict[str, Any]] = {
    **{kind: {"type": "boolean"} for kind in (*_ALONE, "baselines", "early_stopping", "trial_advice")},
    "schemes": _NAMES,
    "suffixes": _NAMES,
    "intervals": _NAMES,
    "connectors": _NAMES,
    "runtimes": _NAMES,
    "commands": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
}


class ExtensionTable(Table):
    """The schema of extension.toml; `provides` may have kinds of a newer kernel."""

    extension: int
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", description="lower-case letters, digits, - and _")]
    module: DottedName
    summary: FilledLine
    provides: dict[str, Any]


@dataclass(slots=True)
class Discovery:
    """The result of a discovery.

    Args:
        infos: every usable extension, by distribution and name.
        warnings: one sentence for each unusable extension.
        paths: the manifests that were read, and the paths where none was found.
        is_lasting: whether the result is valid until a folder or a file changes. A package that cannot be found now may
            be available to the next process, for example during an installation.
    """

    infos: list[ExtensionInfo] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    is_lasting: bool = True


def discover_extensions() -> Discovery:
    """Discover all installed extensions."""
    discovery = Discovery()
    for point in sorted(entry_points(group=GROUP), key=lambda one: (_distribution(one)[0], one.name)):
        paths: list[Path] = []
        try:
            paths = _manifest_paths(point)
            discovery.paths.extend(map(str, paths))
            discovery.infos.append(_read(point, next((path for path in paths if path.is_file()), paths[0])))
        except EvalsiError as error:
            whose = f"The extension {point.name} of {_distribution(point)[0]} is ignored."
            discovery.warnings.append(f"{whose} {error}")
            discovery.is_lasting &= bool(paths)
    return discovery


def _read(point: EntryPoint, path: Path) -> ExtensionInfo:
    tables = read_toml(path, _error)
    number = tables.get("extension", FORMAT)
    if isinstance(number, int) and number != FORMAT:
        hint = "Upgrade Evals.si." if number > FORMAT else f"Set extension = {FORMAT}."
        raise _error(f"{path}: extension is {number}, but this version of Evals.si only supports {FORMAT}.", hint, [])
    table = check_table(ExtensionTable, tables, path, _error, _provides_problems)
    name, version = _distribution(point)
    return ExtensionInfo(table.name, table.module, table.summary, name, version, str(path), table.provides)


def _manifest_paths(point: EntryPoint) -> list[Path]:
    """Return the possible paths of an entry point's extension.toml, without importing the package."""
    top, *inner = point.module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError) as cause:
        raise _error(f"Its package {point.module} cannot be found: {cause}.", "Reinstall it.", []) from cause
    folders = list((spec.submodule_search_locations if spec else None) or ())
    if not folders:
        raise _error(f"There is no package {point.module}.", "Reinstall it, or report it to its authors.", [])
    return [Path(folder, *inner, MANIFEST) for folder in folders]


def _provides_problems(tables: dict[str, Any]) -> Iterator[Problem]:
    provides = tables.get("provides")
    for kind, provided in provides.items() if isinstance(provides, dict) else ():
        at = f"provides.{kind}"
        problems = list(value_problems(_KINDS.get(kind, {}), provided, at))
        yield from problems
        if problems:
            continue
        if kind == "suffixes":
            for suffix in provided:
                if not suffix.startswith(".") or suffix != suffix.lower():
                    yield Problem(at, f'names "{suffix}"', "Use a dot and lower-case letters, such as .jsonl.")


def _distribution(point: EntryPoint) -> tuple[str, str]:
    return (point.dist.name, point.dist.version) if point.dist else ("", "")


def _error(message: str, hint: str, problems: list[Problem]) -> ConfigError:
    return ConfigError(message, hint, code="config.extension", problems=[problem.to_dict() for problem in problems])
