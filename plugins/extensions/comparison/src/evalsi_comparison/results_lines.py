"""Owns reading a results file an element at a time: its head, and each result and each record as JSON.

A file as `evalsi` writes it, a line an element, is read in memory that does not grow with it. Any other layout of the
same JSON is read too, at once. It must not know what a result says.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from evalsi_kernel.errors import ConfigError

KNOWN_VERSION = 1
LONG = frozenset({"results", "records", "judge_replies"})
"""The arrays that grow with the data."""
_HINT = "Name a file that `evalsi run --output` or `evalsi eval --output` wrote, or a run of `evalsi runs list`."
_FIRST = re.compile(rb'\{"schema_version":\d+,\r?\n')
_OPENING = re.compile(rb'"(\w+)":\[\r?\n')
_REFUSED = (msgspec.MsgspecError, UnicodeError, RecursionError)


class ResultsLines:
    """A results file.

    Args:
        path: of the file.
        called: how errors call it; by its path unless given.
        code: of errors.

    Attributes:
        head: everything but the long arrays.

    Raises:
        ConfigError: the file cannot be read, is cut off, is no results file, or is of a newer version.
    """

    def __init__(self, path: Path, called: str | None = None, code: str = "config.results") -> None:
        self.path = path
        self._called = called or str(path)
        self._code = code
        self._document: dict[str, list[msgspec.Raw]] | None = None
        try:
            with path.open("rb") as file:
                head = self._read_head(file)
        except OSError as error:
            raise ConfigError(f"{self._called} cannot be read: {error.strerror}.", _HINT, code=code) from error
        self.head = self._checked(head)

    def elements(self, name: str) -> Iterator[bytes | msgspec.Raw]:
        """The elements of one of the long arrays, each as JSON."""
        if self._document is not None:
            yield from self._document.get(name, ())
            return
        with self.path.open("rb") as file:
            inside = False
            for line in file:
                if inside:
                    if line.startswith(b"]"):
                        return
                    yield line.rstrip(b",\r\n")
                else:
                    inside = _opened(line) == name

    def damaged(self, what: str, error: Exception) -> ConfigError:
        """What to raise where an element is not what it should be."""
        return ConfigError(f"{self._called} is damaged: {what}: {error}.", "Write it again.", code=self._code)

    def _read_head(self, file: BinaryIO) -> Any:
        """The head of a file with a line an element; any other file is kept whole."""
        first = file.readline(100)
        if not _FIRST.fullmatch(first):
            return self._read_document(first + file.read())
        kept, inside = [first], ""
        for line in file:
            if not inside:
                kept.append(line)
                inside = _opened(line)
            elif line.startswith(b"]"):
                kept.append(line)
                inside = ""
        if inside:
            raise self._cut_off(f"within its {inside}")
        try:
            return msgspec.json.decode(b"".join(kept))
        except _REFUSED as error:
            raise self._refused(error) from error

    def _read_document(self, data: bytes) -> Any:
        try:
            # An editor may have put a mark of the encoding before it.
            members = msgspec.json.decode(data.removeprefix(BOM_UTF8), type=dict[str, msgspec.Raw])
            arrays = {
                name: msgspec.json.decode(members[name], type=list[msgspec.Raw]) for name in LONG & members.keys()
            }
            head = {name: msgspec.json.decode(value) for name, value in members.items() if name not in arrays}
        except _REFUSED as error:
            raise self._refused(error) from error
        self._document = arrays
        return head | {name: [] for name in arrays}

    def _refused(self, error: Exception) -> ConfigError:
        if "truncated" in str(error):
            return self._cut_off("before its last bracket")
        return ConfigError(f"{self._called} is no results file: {error}.", _HINT, code=self._code)

    def _cut_off(self, where: str) -> ConfigError:
        return ConfigError(
            f"{self._called} is cut off {where}.", "Copy it again, or run the evaluation again.", code=self._code
        )

    def _checked(self, head: Any) -> dict[str, Any]:
        version = head.get("schema_version") if isinstance(head, dict) else None
        if isinstance(version, int) and version > KNOWN_VERSION:
            raise ConfigError(
                f"{self._called} is a results file of version {version}; {KNOWN_VERSION} is the newest known here.",
                "Upgrade Evals.si.",
                code=self._code,
            )
        parts = {"manifest": dict, "summaries": list, "results": list, "records": list}
        if version != KNOWN_VERSION or not all(isinstance(head.get(name), kind) for name, kind in parts.items()):
            raise ConfigError(f"{self._called} is no results file of Evals.si.", _HINT, code=self._code)
        found: dict[str, Any] = head
        return found


def _opened(line: bytes) -> str:
    """The long array that a line opens, or ""."""
    found = _OPENING.fullmatch(line)
    name = "" if found is None else found[1].decode()
    return name if name in LONG else ""
