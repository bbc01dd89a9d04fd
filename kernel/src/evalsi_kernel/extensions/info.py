"""What is known of an extension without importing it, from its extension.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

ONLY_ONE = "-"
"""Name of what a kind provides with `true`, such as `stdin = true`."""


class ExtensionInfo(NamedTuple):
    """An extension of an installed distribution.

    Args:
        name: name of the extension.
        module: module with the hooks, imported when one of its names is used.
        summary: one line for the user.
        distribution: name of the distribution, such as "evalsi-datasets".
        version: version of the distribution.
        manifest: path of its extension.toml.
        provides: kind → a list of names, a table with the names as keys, or `true` for a kind with a single entry.
            Unknown kinds are kept for other readers.
    """

    name: str
    module: str
    summary: str
    distribution: str
    version: str
    manifest: str
    provides: Mapping[str, Any]

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names that it provides of a kind, such as `names("schemes")`."""
        provided = self.provides.get(kind)
        if provided is True:
            return (ONLY_ONE,)
        return tuple(map(str, provided)) if isinstance(provided, list | dict) else ()
