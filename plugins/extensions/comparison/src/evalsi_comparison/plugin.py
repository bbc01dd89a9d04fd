"""Owns the hook by which the command line finds `compare`.

It must not know how runs are compared.
"""

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Compare


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `compare`, or None where the name is another's."""
    return Compare(toolkit) if name == "compare" else None
