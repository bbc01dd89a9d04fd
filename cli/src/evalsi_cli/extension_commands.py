"""Commands of extensions: listed from the index, imported when used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.extensions.hook_calls import command
from evalsi_kernel.extensions.installed import default_extensions

if TYPE_CHECKING:
    from evalsi_kernel.commands import Command


def extension_commands() -> dict[str, str]:
    """Return name → line of `--help`, without importing extensions."""
    commands: dict[str, str] = {}
    for info in default_extensions().infos:
        provided = info.provides.get("commands")
        if isinstance(provided, dict):
            commands |= provided
    return commands


def load_command(name: str) -> Command:
    """Import the command of an extension. Raise `ConfigError` if it cannot be imported."""
    from evalsi_cli.toolkit import Toolkit  # Imported late: a list of names does not need it.

    return command(name, Toolkit(), default_extensions())
