"""Owns a results file as it is read: its head, and its results, records and replies one at a time, redacted.

It must not know what is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalsi_kernel.errors import ConfigError

from .document import members
from .head import Head
from .redaction import Redaction
from .values import objects

SCHEMA_VERSION = 1
LISTED = frozenset({"results", "records", "judge_replies"})
_NEEDED = ("schema_version", "manifest")
_HINT = "Name a file that `evalsi eval --output` or `evalsi run --output` wrote."


class Results:
    """A results file, which can be read several times.

    Args:
        path: of the file.
        redaction: what of it nobody is to see.
    """

    def __init__(self, path: Path, redaction: Redaction) -> None:
        self.path = path
        self._redaction = redaction
        self._head: dict[str, Any] = {}

    def entries(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each of `results`, `records` and `judge_replies` under the name of its list, in the file's order.

        Raises:
            ConfigError: the file cannot be read, is no results file, or is one of a newer form.
        """
        head: dict[str, Any] = {}
        redacted = self._redaction.by_list
        for name, value in members(self.path, LISTED):
            if name not in LISTED:
                head[name] = value
                if name == "schema_version":
                    self._check_version(value)
            elif not isinstance(value, dict):
                raise ConfigError(f'{self.path}: an element of "{name}" is no object.', _HINT)
            elif (shown := redacted[name](value)) is not None:
                yield name, shown
        for name in _NEEDED:
            if name not in head:
                raise ConfigError(f'{self.path} is no results file: it has no "{name}".', _HINT)
        self._head = head

    @property
    def head(self) -> Head:
        """The head; there only once `entries` has come to its end."""
        head = self._head
        manifest = head["manifest"]
        if not isinstance(manifest, dict):
            raise ConfigError(f'{self.path} is no results file: its "manifest" is no object.', _HINT)
        verdict = head.get("verdict")
        return self._redaction.of_head(
            Head(
                manifest,
                tuple(objects(head.get("summaries"))),
                verdict if isinstance(verdict, str) else None,
                tuple(objects(head.get("gates"))),
                tuple(objects(head.get("slices"))),
            )
        )

    def _check_version(self, version: Any) -> None:
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise ConfigError(
                f"{self.path} is of the form {version}, and {SCHEMA_VERSION} is the newest that is known here.",
                "Upgrade Evals.si.",
            )
        if version != SCHEMA_VERSION:
            raise ConfigError(f"{self.path} is no results file: its schema_version is {version!r}.", _HINT)
