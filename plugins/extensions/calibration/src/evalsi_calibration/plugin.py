"""Owns the hook by which the command line finds `calibrate`.

It must not know how an evaluator is compared with people.
"""

from evalsi_kernel.commands import Command, Toolkit
from evalsi_kernel.hooks import hookimpl

from .command import Calibrate


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `calibrate`, or None where the name is another's."""
    return Calibrate(toolkit) if name == "calibrate" else None
