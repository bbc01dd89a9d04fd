"""The schema of plugin.toml; all problems are reported at once. Imported only where the catalog's cache is stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import Field, FiniteFloat

from evalsi_kernel.checking.param_schema import params_schema_problems
from evalsi_kernel.checking.problems import Problem
from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.checking.toml_tables import REST_OF_LINE, FilledLine, Line, Table, check_table, read_toml
from evalsi_kernel.checking.value_schema import shown
from evalsi_kernel.errors import PackError
from evalsi_kernel.packs.pack_info import (
    MEMORY_MB,
    PYTHON,
    RECORD_TIMEOUT_S,
    EvaluatorInfo,
    Kind,
    PackInfo,
    Scope,
    Workers,
)
from evalsi_kernel.packs.refs import EVALUATOR_NAME, PACK_NAME, VERSION

FORMAT = 1
PROTOCOL = 1
NEEDS = ("input", "output", "reference", "context", "trajectory", "usage", "metadata", "provenance", "check")
ASKS = ("judge", "embed", "sandbox")
# Reserved as publishers too: a catalog shows `evalsi` as the publisher of Evals.si's own packs.
RESERVED_NAMES = frozenset({"builtin", "evalsi"})
_HOST = r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$"
_NONE: Any = Field(default_factory=list)

EvaluatorName = Annotated[str, Field(pattern=f"^{EVALUATOR_NAME}$", description="letters, digits, - and _")]
PackName = Annotated[
    str, Field(pattern=f"^{PACK_NAME}$", description="lower-case letters, digits, - and _, as name or publisher/name")
]
Version = Annotated[str, Field(pattern=f"^{VERSION}$", description="letters, digits, dots, + and -")]


class Output(Table):
    """A score: its name ("" for the evaluator's own), kind, unit, range and direction."""

    name: str = ""
    kind: Kind
    unit: str = ""
    minimum: FiniteFloat | None = None
    maximum: FiniteFloat | None = None
    higher_is_better: bool | None = None


class Evaluator(Table):
    """An evaluator; its table is generated from its code."""

    name: EvaluatorName
    version: Version
    summary: Line = ""
    scope: Scope = "record"
    needs: list[str] = Field(default_factory=list)
    asks: list[str] = Field(default_factory=list)
    outputs: list[Output] = Field(default_factory=list)
    params: dict[str, Any] = Field(default_factory=dict)


class Run(Table):
    """How the pack's process runs."""

    module: FilledLine
    runtime: Annotated[str, Field(pattern="^[a-z][a-z0-9_-]*$", description="lower-case letters")] = PYTHON
    workers: Workers = "cpu"
    record_timeout_s: Annotated[FiniteFloat, Field(gt=0)] = RECORD_TIMEOUT_S
    memory_mb: Annotated[int, Field(ge=64)] = MEMORY_MB
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)


class Permissions(Table):
    """Permissions that the pack requests; a project grants them when it adds the pack."""

    judge: list[Annotated[str, Field(pattern="^[a-z][a-z0-9_-]*$", description="the name of a role")]] = _NONE
    asks_per_record: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    network: list[Annotated[str, Field(pattern=_HOST, description="a host, or host:port")]] = _NONE
    files: list[
        Annotated[str, Field(pattern=f"^(/|~/){REST_OF_LINE}", description="an absolute path, or one from ~/")]
    ] = _NONE
    secrets: list[Annotated[str, Field(pattern="^[A-Z_][A-Z0-9_]*$", description="the name of a variable")]] = _NONE


class Manifest(Table):
    """The content of plugin.toml."""

    manifest: int
    name: PackName
    version: Version
    summary: FilledLine
    protocol: int
    wraps: Line = ""
    run: Run
    permissions: Permissions = Field(default_factory=Permissions)
    evaluators: Annotated[list[Evaluator], Field(min_length=1)]

    def to_pack(self, folder: Path) -> PackInfo:
        """Return the pack as the rest of the kernel uses it."""
        evaluators = [EvaluatorInfo.from_dict({**one.model_dump(), "pack": self.name}) for one in self.evaluators]
        return PackInfo(
            **self.model_dump(include={"name", "version", "summary", "protocol", "wraps"}),
            **self.run.model_dump(),
            folder=folder,
            evaluators=tuple(evaluators),
            permissions=self.permissions.model_dump(exclude_defaults=True),
        )


def load_manifest(path: Path) -> Manifest:
    """Read and validate a plugin.toml.

    Raises:
        PackError: `pack.manifest`: all problems are in its message and, with their places, in `details["problems"]`.
    """
    return parse_manifest(read_toml(path, manifest_error), path)


def parse_manifest(tables: dict[str, Any], path: Path) -> Manifest:
    """Validate the tables of a plugin.toml; raise as `load_manifest`."""
    for key, supported in (("manifest", FORMAT), ("protocol", PROTOCOL)):
        number = tables.get(key, supported)
        # Other formats may give other keys a different meaning, so nothing else is validated.
        if isinstance(number, int) and number != supported:
            problem = Problem(key, f"is {number}, but this version of Evals.si only supports {supported}")
            hint = "Upgrade Evals.si." if number > supported else f"Set {key} = {supported}."
            raise manifest_error(f"{path}: {problem.at} {problem.what}.", hint, [problem])
    return check_table(Manifest, tables, path, manifest_error, _more_problems)


def readable_names(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the names of the pack and its evaluators in an invalid manifest, as far as they are readable."""
    try:
        tables = read_toml(path, manifest_error)
    except PackError:
        return "", ()
    name = tables.get("name")
    evaluators = [one.get("name") for one in _list(tables, "evaluators") if isinstance(one, dict)]
    return name if isinstance(name, str) else "", tuple(one for one in evaluators if isinstance(one, str))


def manifest_error(message: str, hint: str, problems: list[Problem]) -> PackError:
    """Return the error of an invalid manifest."""
    return PackError(message, hint, code="pack.manifest", problems=[problem.to_dict() for problem in problems])


def _more_problems(tables: dict[str, Any]) -> Iterator[Problem]:
    """Yield the problems that types cannot express; the tables may be invalid in any other way."""
    name = tables.get("name")
    if isinstance(name, str) and name.split("/")[0] in RESERVED_NAMES:
        yield Problem("name", f"is {shown(name)}, which is reserved", "Choose another name.")
    yield from _run_problems(tables.get("run"), "run")
    evaluators = [one if isinstance(one, dict) else {} for one in _list(tables, "evaluators")]
    yield from _permission_problems(tables.get("permissions"), [one.get("name") for one in evaluators])
    yield from _twice("evaluators", evaluators)
    for index, evaluator in enumerate(evaluators):
        at = f"evaluators[{index}]"
        yield from _unknown_words(evaluator, at, "needs", NEEDS)
        yield from _unknown_words(evaluator, at, "asks", ASKS)
        outputs = [one if isinstance(one, dict) else {} for one in _list(evaluator, "outputs")]
        yield from _twice(f"{at}.outputs", outputs)
        for position, output in enumerate(outputs):
            yield from _output_problems(output, f"{at}.outputs[{position}]")
        params = evaluator.get("params")
        if isinstance(params, dict) and params:
            yield from params_schema_problems(params, f"{at}.params")


def _run_problems(run: Any, at: str) -> Iterator[Problem]:
    runtime, module = (run.get("runtime", PYTHON), run.get("module")) if isinstance(run, dict) else ("", "")
    if not isinstance(module, str) or not module:
        return
    if runtime == PYTHON:
        if run.get("options"):
            yield Problem(f"{at}.options", "are not supported by the Python runtime", "Remove them.")
        if not all(part.isidentifier() for part in module.split(".")):
            yield Problem(f"{at}.module", f"must be the dotted name of a module, not {shown(module)}")
    elif PurePosixPath(module).is_absolute() or ".." in module.split("/") or "\\" in module:
        yield Problem(f"{at}.module", f"is {shown(module)}, outside of the pack's folder", "Use a file in it.")


def _permission_problems(permissions: Any, evaluators: list[Any]) -> Iterator[Problem]:
    if not isinstance(permissions, dict):
        return
    for path in _list(permissions, "files"):
        if isinstance(path, str) and ".." in path.split("/"):
            yield Problem("permissions.files", f"names {shown(path)}", "Write the path without `..`.")
    asks = permissions.get("asks_per_record")
    for name in asks if isinstance(asks, dict) else ():
        if name not in evaluators:
            yield Problem("permissions.asks_per_record", f'names "{name}", which is not an evaluator of the pack')


def _output_problems(output: dict[str, Any], at: str) -> Iterator[Problem]:
    if output.get("kind") in ("pass", "label"):
        for key in ("unit", "minimum", "maximum"):
            if key in output:
                yield Problem(f"{at}.{key}", "is only allowed for numbers", "Remove it.")
    low, high = output.get("minimum"), output.get("maximum")
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        yield Problem(f"{at}.minimum", f"is {low:g}, which is greater than the maximum {high:g}")


def _unknown_words(evaluator: dict[str, Any], at: str, key: str, known: tuple[str, ...]) -> Iterator[Problem]:
    for word in _list(evaluator, key):
        # A need may name a part of a field, such as usage.latency_ms.
        if isinstance(word, str) and (word.partition(".")[0] if key == "needs" else word) not in known:
            yield Problem(f"{at}.{key}", f'names "{word}"', choose(word, known))


def _twice(at: str, tables: list[dict[str, Any]]) -> Iterator[Problem]:
    names = Counter(table["name"] for table in tables if isinstance(table.get("name"), str))
    for name, count in names.items():
        if count > 1:
            yield Problem(at, f'has {count} tables named "{name}"', "Use a different name for each.")


def _list(table: dict[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    return value if isinstance(value, list) else []
