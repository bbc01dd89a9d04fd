"""Owns the hook by which the command line finds `cache`.

It must not know what a cache holds.
"""

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Cache


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `cache`, or None where the name is another's."""
    return Cache(toolkit) if name == "cache" else None
