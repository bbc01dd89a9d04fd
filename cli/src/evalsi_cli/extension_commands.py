"""The commands that extensions bring: their names from the index, their code when one is used.

It must not know what a command does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.extensions.asking import command
from evalsi_kernel.extensions.installed import default_extensions

if TYPE_CHECKING:
    from evalsi_kernel.commands import Command


def extension_commands() -> dict[str, str]:
    """Name → the line that `--help` shows; nothing is imported."""
    commands: dict[str, str] = {}
    for info in default_extensions().infos:
        provided = info.provides.get("commands")
        if isinstance(provided, dict):
            commands |= provided
    return commands


def load_command(name: str) -> Command:
    """The command of an extension; raises `ConfigError` where it cannot be imported."""
    from evalsi_cli.toolkit import Toolkit  # What plans and models need, which a list of names does not.

    return command(name, Toolkit(), default_extensions())
