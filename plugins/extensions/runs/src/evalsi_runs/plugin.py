"""Owns the hook by which the command line finds `run`, `runs`, `shadow`, `init` and `schema`.

It must not know what they do: each loads when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from evalsi_kernel.commands import Command, Toolkit


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """One of the five, or None where the name is another's."""
    if name == "run":
        from .run_command import Run

        return Run(toolkit)
    if name == "runs":
        from .runs_command import Runs

        return Runs(toolkit)
    if name == "shadow":
        from .shadow_command import Shadow

        return Shadow(toolkit)
    if name == "init":
        from .init_command import Init

        return Init()
    if name == "schema":
        from .schema_command import Schema

        return Schema(toolkit)
    return None
