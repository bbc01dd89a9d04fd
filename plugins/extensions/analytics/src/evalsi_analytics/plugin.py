"""Owns the hook by which the command line finds `analyze`.

It must not know DuckDB.
"""

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Analyze


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `analyze`, or None where the name is another's."""
    return Analyze(toolkit) if name == "analyze" else None
