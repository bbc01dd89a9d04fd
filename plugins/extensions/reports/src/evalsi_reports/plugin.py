"""Owns the hook by which the command line finds `report` and `promote`.

It must not know what they make of a results file: each loads when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from evalsi_kernel.commands import Command, Toolkit


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """One of the two, or None where the name is another's."""
    if name == "report":
        from .command import Report

        return Report(toolkit)
    if name == "promote":
        from .promote_command import Promote

        return Promote()
    return None
