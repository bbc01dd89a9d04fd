"""Owns the hook by which the command line finds `plugins`.

It must not know an environment.
"""

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Plugins


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `plugins`, or None where the name is another's."""
    return Plugins(toolkit) if name == "plugins" else None
