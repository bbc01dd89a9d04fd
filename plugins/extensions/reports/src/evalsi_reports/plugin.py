"""Owns the hook by which the command line finds `report`.

It must not know what a report shows.
"""

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Report


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `report`, or None where the name is another's."""
    return Report(toolkit) if name == "report" else None
