"""Owns taking a results file apart: its head as a value, its results and records as files of a line each.

A file as `evalsi` writes it is taken apart in memory that does not grow with it. It must not know DuckDB.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from evalsi_kernel.errors import ConfigError

KNOWN_VERSION = 1
LONG = ("results", "records")
# Not asked of, but as long as the data.
_LEFT_OUT = ("judge_replies",)
_HINT = "Name files that `evalsi run --output` or `evalsi eval --output` wrote."
_FIRST = re.compile(rb'\{"schema_version":\d+,\r?\n')
_OPENING = re.compile(rb'"(results|records|judge_replies)":\[\r?\n')


class Parts(NamedTuple):
    """A results file, taken apart.

    Args:
        head: everything but the long arrays.
        results, records: files of JSON lines.
    """

    head: Mapping[str, Any]
    results: Path
    records: Path


def content_sha256(path: Path) -> str:
    """The hash of a file's bytes; raises `ConfigError` where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}") from error


def take_apart(path: Path, folder: Path) -> Parts:
    """Take a results file apart into files in a folder.

    Raises:
        ConfigError: the file cannot be read, is cut off, is no results file, or is of a newer version.
    """
    targets = {name: folder / f"{name}.jsonl" for name in LONG}
    try:
        with path.open("rb") as file:
            first = file.readline(100)
            if _FIRST.fullmatch(first):
                head = _by_lines(path, first, file, targets)
            else:
                head = _at_once(path, first + file.read(), targets)
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}") from error
    return Parts(_checked(path, head), targets["results"], targets["records"])


def _by_lines(path: Path, first: bytes, file: BinaryIO, targets: Mapping[str, Path]) -> Any:
    kept = [first]
    for line in file:
        kept.append(line)
        if opened := _OPENING.fullmatch(line):
            name = opened[1].decode()
            kept.append(_copied(path, file, name, targets.get(name)))
    return _decoded(path, b"".join(kept))


def _copied(path: Path, file: BinaryIO, name: str, target: Path | None) -> bytes:
    """Copy the elements of an array, a line each; returns the line that ends it."""
    with nullcontext() if target is None else target.open("wb") as lines:
        for line in file:
            if line.startswith(b"]"):
                return line
            if lines is not None:
                lines.write(line.rstrip(b",\r\n"))
                lines.write(b"\n")
    raise _refused(path, f"is cut off within its {name}", "Copy it again, or run the evaluation again.")


def _at_once(path: Path, data: bytes, targets: Mapping[str, Path]) -> Any:
    """A file in another layout, such as one that a tool has indented."""
    head = _decoded(path, data)
    if not isinstance(head, dict):
        return head
    for name, target in targets.items():
        rows = head.get(name)
        if isinstance(rows, list):
            target.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            head[name] = []
    for name in _LEFT_OUT:
        head.pop(name, None)
    return head


def _decoded(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
            raise _refused(
                path, "is cut off before its last bracket", "Copy it again, or run the evaluation again."
            ) from error
        raise _refused(path, f"is no results file: {error}") from error
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"is no results file: {error}") from error


def _checked(path: Path, head: Any) -> Mapping[str, Any]:
    version = head.get("schema_version") if isinstance(head, dict) else None
    if isinstance(version, int) and version > KNOWN_VERSION:
        raise _refused(
            path,
            f"is a results file of version {version}, and {KNOWN_VERSION} is the newest known here",
            "Upgrade Evals.si.",
        )
    parts = {"manifest": dict, "summaries": list, "results": list, "records": list}
    if version != KNOWN_VERSION or not all(isinstance(head.get(name), kind) for name, kind in parts.items()):
        raise _refused(path, "is no results file of Evals.si")
    found: Mapping[str, Any] = head
    return found


def _refused(path: Path, what: str, hint: str = _HINT) -> ConfigError:
    return ConfigError(f"{path} {what}.", hint, code="config.results")
