"""Plugin hooks: the command `plugins`, the environment builder, pack admission, and two pack runtimes.

Each hook imports its implementation when called, so that a command only loads what it uses.
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
    """Return the command `plugins`; None for another name."""
    from .command import Plugins

    return Plugins(toolkit) if name == "plugins" else None


@hookimpl
def evalsi_environment_builder() -> EnvironmentBuilder:
    """Return the builder of environments, which uses uv."""
    from .build import Builder

    return Builder()


@hookimpl
def evalsi_admission(pack: PackInfo) -> Callable[[Launch], Launch]:
    """Return the function that confines the pack's launch.

    A pack that no project has added or names belongs to the user and runs unrestricted.
    """
    if not is_project_pack(pack.folder) and not os.path.exists(PROJECT_LOCK):
        # Avoid the import of pydantic, which takes long and is only needed to read evalsi.lock.
        return _as_it_is
    from .admission import admit

    return admit(pack)


@hookimpl
def evalsi_runtime(pack: PackInfo) -> Launch | None:
    """Return how to start a pack of the runtime `program` or `service`; None for another runtime."""
    if pack.runtime == SERVICE:
        from .service_runtime import service_launch

        return service_launch(pack)
    from .program_runtime import RUNTIME, program_launch

    return program_launch(pack) if pack.runtime == RUNTIME else None


def _as_it_is(launch: Launch) -> Launch:
    return launch
