"""A spec's file read into an `EvalRun` document, with all that is wrong told in one error, each with its line.

It must not know what a run does.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from evalsi_kernel.checking.problems import Problem
from evalsi_kernel.checking.toml_tables import check_table, problems_of
from evalsi_kernel.errors import ConfigError, EvalsiError, UsageError
from evalsi_kernel.extensions.hook_calls import target_options
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.runs.spec import RunDocument

from .yaml_document import MAX_BYTES, Document, read_yaml

_SHARED = ("connector", "max_concurrency")
_TEXT_FOR_TABLE = "must be a table, not the text"
_AS_TABLE = {
    "spec.target": "{connector: …}",
    "spec.dataset": "{path: …}",
    "spec.gates": "{metric: …, min: …}",
}


def add_spec(parser: argparse.ArgumentParser, summary: str) -> None:
    """Add the spec's file, as a flag and by its place."""
    parser.add_argument("spec", nargs="?", type=Path, metavar="SPEC", help=summary)
    parser.add_argument("-f", "--file", type=Path, metavar="SPEC", help="the same, as a flag")


def spec_named(options: argparse.Namespace) -> Path:
    """Return the file that a command names; raises `UsageError` where it names none or two."""
    named: list[Path] = [path for path in (options.spec, options.file) if path is not None]
    if len(named) != 1:
        what = "A spec is needed." if not named else f"Two specs are named, {named[0]} and {named[1]}."
        raise UsageError(what, "Name one file, such as run.yaml; `evalsi init` writes an example.")
    return named[0]


def read_spec(path: Path, extensions: Extensions) -> RunDocument:
    """The document of a file.

    Args:
        path: of the file: YAML or JSON.
        extensions: where the keys of targets are known.

    Raises:
        ConfigError: it cannot be read, or does not fit; each problem with its line and what was meant.
    """
    document = read_yaml(_text(path), str(path))
    if not isinstance(document.value, dict):
        raise ConfigError(
            f"{path} holds no map at its top.",
            "Begin with `spec:`; `evalsi init` writes an example.",
            code="config.spec",
        )
    tables = with_agent_as_connector(document.value)
    return check_table(RunDocument, tables, path, _raiser(path, document), _more(extensions))


def run_name(document: RunDocument, path: Path) -> str:
    """What the run is called: as its spec says, or else as its file."""
    if document.metadata.name is not None:
        return document.metadata.name
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name.split(".")[0]).strip("-.") or "run"
    return plain[:100]


def with_agent_as_connector(tables: dict[str, Any]) -> dict[str, Any]:
    """`target: {agent: {http: {…}}}` as `target: {connector: http, …}`: both are written."""
    spec = tables.get("spec")
    target = spec.get("target") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(target, dict):
        return tables
    agent = target.get("agent")
    if not isinstance(agent, dict) or len(agent) != 1:
        return tables
    [(kind, options)] = agent.items()
    if not isinstance(options, dict):
        return tables
    others = {key: value for key, value in target.items() if key != "agent"}
    return {**tables, "spec": {**spec, "target": {"connector": kind, **options, **others}}}


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.", "Name the spec's file with -f.", code="config.spec"
        ) from error
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"{path} holds {len(data) / 2**20:.0f} MiB, and a spec at most {MAX_BYTES // 2**20}.",
            "Put records into a file of their own.",
            code="config.spec",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path} is not UTF-8 (line {line}).", "Save it as UTF-8.", code="config.spec") from error


def _raiser(path: Path, document: Document) -> Callable[[str, str, list[Problem]], EvalsiError]:
    """Makes the one error of all problems, in the order of their lines."""

    def error(_message: str, _hint: str, problems: list[Problem]) -> EvalsiError:
        repaired = map(_with_form, problems)
        placed = sorted(((document.line(problem.at) or 0, problem) for problem in repaired), key=lambda one: one[0])
        told = [f"line {line}: {problem.at} {problem.what}." for line, problem in placed]
        details = [{**problem.to_dict(), "line": line} for line, problem in placed]
        if len(placed) == 1:
            return ConfigError(f"{path}, {told[0]}", placed[0][1].hint, code="config.spec", problems=details)
        lines = [f"  {line} {problem.hint}".rstrip() for line, (_, problem) in zip(told, placed, strict=True)]
        message = "\n".join([f"{path}: {len(placed)} problems:", *lines])
        return ConfigError(message, code="config.spec", problems=details)

    return error


def _with_form(problem: Problem) -> Problem:
    """With the form of a table where a name alone was written, which says what was meant and not under which key."""
    form = _AS_TABLE.get(problem.at.partition("[")[0])
    is_short = form is not None and problem.what.startswith(_TEXT_FOR_TABLE)
    return problem._replace(hint=f"Write it as {form}.") if is_short else problem


def _more(extensions: Extensions) -> Callable[[dict[str, Any]], Iterable[Problem]]:
    """What the models of the kernel cannot see: the keys of the target's own kind, and what belongs together."""

    def more(tables: dict[str, Any]) -> Iterable[Problem]:
        spec = tables.get("spec")
        if not isinstance(spec, dict):
            return
        target, dataset = spec.get("target"), spec.get("dataset")
        if isinstance(target, dict) and isinstance(target.get("connector"), str):
            yield from _of_target(target, extensions)
        if isinstance(dataset, dict):
            given = [key for key in ("path", "uri", "inline") if dataset.get(key) is not None]
            if len(given) != 1:
                what = "names no data" if not given else f"names {' and '.join(given)}"
                yield Problem("spec.dataset", what, "Give it exactly one of path, uri and inline.")

    return more


def _of_target(target: dict[str, Any], extensions: Extensions) -> Iterable[Problem]:
    try:
        model = target_options(target["connector"], extensions)
    except ConfigError as error:
        yield Problem("spec.target.connector", f"cannot be used: {error.message.rstrip('.')}", error.hint)
        return
    options = {key: value for key, value in target.items() if key not in _SHARED}
    yield from problems_of(model, options, "spec.target")
