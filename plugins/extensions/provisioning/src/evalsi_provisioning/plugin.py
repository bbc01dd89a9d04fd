"""Owns the hooks by which the command line finds `plugins`, and the kernel what builds environments.

It must not know an environment. The two load apart: neither needs the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from evalsi_kernel.commands import Command, Toolkit
    from evalsi_kernel.environment_builder import EnvironmentBuilder


@hookimpl
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """The command `plugins`, or None where the name is another's."""
    from .command import Plugins

    return Plugins(toolkit) if name == "plugins" else None


@hookimpl
def evalsi_environment_builder() -> EnvironmentBuilder:
    """What builds environments with uv."""
    from .build import Builder

    return Builder()
