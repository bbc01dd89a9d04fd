"""Owns the hooks by which the command line finds `plugins`, and the kernel what builds, admits and runs packs.

It must not know an environment. They load apart: none needs another.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalsi_kernel.files.paths import is_project_pack
from evalsi_kernel.hooks import hookimpl
from evalsi_kernel.planning.reattach import SERVICE

from . import PROJECT_LOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalsi_kernel.commands import Command, Toolkit
    from evalsi_kernel.packs.environment_builder import EnvironmentBuilder
    from evalsi_kernel.packs.pack_info import PackInfo
    from evalsi_kernel.supervision.launch import Launch


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


@hookimpl
def evalsi_admission(pack: PackInfo) -> Callable[[Launch], Launch]:
    """What holds a third party's pack; one that no project has added or names is its user's own, and runs as it is."""
    if not is_project_pack(pack.folder) and not os.path.exists(PROJECT_LOCK):
        # Whoever works on a pack does not wait for pydantic, which reads evalsi.lock.
        return _as_it_is
    from .admission import admit

    return admit(pack)


@hookimpl
def evalsi_runtime(pack: PackInfo) -> Launch | None:
    """A pack that is a program of its own or runs as a service, or None where the runtime is another's."""
    if pack.runtime == SERVICE:
        from .service_runtime import service_launch

        return service_launch(pack)
    from .program_runtime import RUNTIME, program_launch

    return program_launch(pack) if pack.runtime == RUNTIME else None


def _as_it_is(launch: Launch) -> Launch:
    return launch
