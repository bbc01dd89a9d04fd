"""What is known of a host extension without importing it, as its static extension.toml says.

It must not know how extensions are found or loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

ONLY_ONE = "-"
"""The name of what a kind provides with a bare `true`, such as `stdin = true`."""


class ExtensionInfo(NamedTuple):
    """One extension of an installed distribution.

    Args:
        name: of the extension.
        module: what is imported when one of its names is used; it holds the hooks.
        summary: one line for a person.
        distribution: what was installed, such as "evalsi-datasets".
        version: of the distribution.
        manifest: path of its extension.toml.
        provides: kind → names, as a list, as the keys of a table, or `true` for the only one of a kind. Kinds that
            this kernel does not know are kept for those who do.
    """

    name: str
    module: str
    summary: str
    distribution: str
    version: str
    manifest: str
    provides: Mapping[str, Any]

    def names(self, kind: str) -> tuple[str, ...]:
        """The names that it provides of a kind, such as `names("schemes")`."""
        provided = self.provides.get(kind)
        if provided is True:
            return (ONLY_ONE,)
        return tuple(map(str, provided)) if isinstance(provided, list | dict) else ()
