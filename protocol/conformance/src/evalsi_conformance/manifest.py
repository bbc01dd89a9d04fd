"""Read a pack's plugin.toml and report all problems at once, each with its location.

These are the documented rules for packs in any language; the kernel's own rules are stricter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from evalsi_conformance.versions import PYPROJECT, is_same_version, project_version
from evalsi_protocol.limits import MAJORS

MANIFEST: Final = "plugin.toml"
NEEDS: Final = ("input", "output", "reference", "context", "trajectory", "usage", "metadata", "provenance", "check")
ASKS: Final = ("judge", "embed", "sandbox")
KINDS: Final = ("pass", "number", "label")
SCOPES: Final = ("record", "dataset")
RECORD_TIMEOUT_S: Final = 60.0
_PACK = re.compile(r"[a-z0-9][a-z0-9_-]*(?:/[a-z0-9][a-z0-9_-]*)?")
_EVALUATOR = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


class Problem(NamedTuple):
    """One problem of a manifest: location, message and hint."""

    at: str
    what: str
    hint: str = ""


class Manifest(NamedTuple):
    """The parts of a manifest that the kit uses.

    Args:
        name: name of the pack.
        version: version of the pack.
        module: Python module, or file of another runtime.
        runtime: runtime of the pack.
        record_timeout_s: timeout of one record.
        evaluators: tables of the evaluators.
        hosts: declared network hosts.
        options: options of the runtime.
        questions: evaluator → declared maximum number of questions per record.
        roles: declared roles of models.
    """

    name: str
    version: str
    module: str
    runtime: str
    record_timeout_s: float
    evaluators: tuple[Mapping[str, Any], ...]
    hosts: tuple[str, ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    questions: Mapping[str, int] = MappingProxyType({})
    roles: tuple[str, ...] | None = None


def read_manifest(folder: Path, *, builtin: bool = False) -> tuple[Manifest, list[Problem]]:
    """Read as much of a pack's manifest as possible.

    Args:
        folder: folder of the pack.
        builtin: whether it is one of Evals.si's own packs, which have plain names.

    Returns:
        What could be read, and every problem. If there are problems, use only the names of the manifest.
    """
    try:
        tables = tomllib.loads((folder / MANIFEST).read_text("utf-8"))
    except OSError as error:
        return _manifest({}), [
            Problem(MANIFEST, f"cannot be read: {error.strerror}", "Write one, or name the folder of a pack.")
        ]
    except (ValueError, RecursionError) as error:
        return _manifest({}), [Problem(MANIFEST, f"is not TOML: {error}", "Fix the syntax there.")]
    return _manifest(tables), [*_problems(tables, builtin), *_version_problems(tables, folder)]


def _manifest(tables: Mapping[str, Any]) -> Manifest:
    run = _table(tables, "run")
    evaluators = tables.get("evaluators")
    timeout = run.get("record_timeout_s")
    permissions = _table(tables, "permissions")
    return Manifest(
        _text(tables, "name"),
        _text(tables, "version"),
        _text(run, "module"),
        _text(run, "runtime") or "python",
        float(timeout) if isinstance(timeout, int | float) and timeout > 0 else RECORD_TIMEOUT_S,
        tuple(one for one in evaluators if isinstance(one, dict)) if isinstance(evaluators, list) else (),
        _texts(permissions.get("network")),
        _table(run, "options"),
        {name: most for name, most in _table(permissions, "asks_per_record").items() if type(most) is int},
        _texts(permissions["judge"]) if "judge" in permissions else None,
    )


def _problems(tables: Mapping[str, Any], builtin: bool) -> Iterator[Problem]:
    if tables.get("manifest") != 1:
        yield Problem("manifest", f"is {tables.get('manifest')!r}, and the kit knows format 1", "Write manifest = 1.")
    protocol = tables.get("protocol")
    if type(protocol) is not int:
        yield Problem("protocol", f"is {protocol!r}", f"Write protocol = {MAJORS[-1]}.")
    elif protocol > MAJORS[-1]:
        hint = f"Check it with a newer evalsi-conformance, or speak protocol {MAJORS[-1]}."
        yield Problem("protocol", f"is {protocol}, and this kit speaks {MAJORS[-1]}", hint)
    elif protocol not in MAJORS:
        yield Problem("protocol", f"is {protocol}, which was never released", f"Write protocol = {MAJORS[-1]}.")
    yield from _worded(tables, "", "name", _PACK, "publisher/name in small letters, digits, - and _")
    yield from _worded(tables, "", "version", _VERSION, "letters, digits, dots, + and -")
    name = _text(tables, "name")
    if name and "/" not in name and not builtin:
        hint = f"Call it after its publisher, such as acme/{name}."
        yield Problem("name", f'is "{name}", and plain names are those of Evals.si\'s own packs', hint)
    if not _text(tables, "summary").strip():
        yield Problem("summary", "is missing", "Write one line for a person.")
    if not _text(_table(tables, "run"), "module"):
        yield Problem("run.module", "is missing", "Name the module, or the file of another runtime, that is run.")
    evaluators = tables.get("evaluators")
    if not isinstance(evaluators, list) or not evaluators:
        yield Problem("evaluators", "are missing", "Write one [[evaluators]] table for each evaluator.")
        return
    names: list[str] = []
    for index, one in enumerate(evaluators):
        at = f"evaluators[{index}]"
        if not isinstance(one, dict):
            yield Problem(at, "is no table")
            continue
        yield from _evaluator_problems(one, at)
        names.append(_text(one, "name"))
    for twice in sorted({name for name in names if name and names.count(name) > 1}):
        yield Problem("evaluators", f'has {names.count(twice)} tables named "{twice}"', "Give each a name of its own.")


def _version_problems(tables: Mapping[str, Any], folder: Path) -> Iterator[Problem]:
    version, released = _text(tables, "version"), project_version(folder)
    if version and released is not None and not is_same_version(version, released):
        yield Problem("version", f'is "{version}", and {PYPROJECT} has "{released}"', "Write the same version in both.")


def _evaluator_problems(one: Mapping[str, Any], at: str) -> Iterator[Problem]:
    yield from _worded(one, at, "name", _EVALUATOR, "letters, digits, - and _")
    yield from _worded(one, at, "version", _VERSION, "letters, digits, dots, + and -")
    if one.get("scope", "record") not in SCOPES:
        yield Problem(f"{at}.scope", f"is {one['scope']!r}", "Write record or dataset.")
    for key, known in (("needs", NEEDS), ("asks", ASKS)):
        words = one.get(key, [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            yield Problem(f"{at}.{key}", "is no list of text")
            continue
        for word in words:
            if (word.partition(".")[0] if key == "needs" else word) not in known:
                yield Problem(f"{at}.{key}", f'names "{word}"', f"There are: {', '.join(known)}.")
    outputs = one.get("outputs", [])
    if not isinstance(outputs, list) or not all(isinstance(output, dict) for output in outputs):
        yield Problem(f"{at}.outputs", "is no list of tables")
        return
    for place, output in enumerate(outputs):
        if output.get("kind") not in KINDS:
            yield Problem(f"{at}.outputs[{place}].kind", f"is {output.get('kind')!r}", "Write pass, number or label.")
        low, high = output.get("minimum"), output.get("maximum")
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            yield Problem(f"{at}.outputs[{place}].minimum", f"is {low:g}, more than the maximum {high:g}")
    if not isinstance(one.get("params", {}), dict):
        yield Problem(f"{at}.params", "is no JSON Schema")


def _worded(table: Mapping[str, Any], at: str, key: str, form: re.Pattern[str], words: str) -> Iterator[Problem]:
    place = f"{at}.{key}" if at else key
    value = table.get(key)
    if value is None:
        yield Problem(place, "is missing", f"Write {words}.")
    elif not isinstance(value, str) or not form.fullmatch(value):
        yield Problem(place, f"is {value!r}", f"Write {words}.")


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
