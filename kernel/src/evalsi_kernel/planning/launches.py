"""Create the launch of a pack: from the catalog in its environment, or from the user's own file or module."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from evalsi_kernel.files.paths import is_project_pack
from evalsi_kernel.packs.pack_info import PYTHON, PackInfo
from evalsi_kernel.packs.refs import CustomRef
from evalsi_kernel.planning.environments import Environment, ensure_environment, sdk_paths
from evalsi_kernel.supervision.launch import Command, Launch

HARD_LIMIT_FACTOR = 4
# Imports create little garbage, so collect rarely; `start` sets the final threshold.
_START = (
    "import gc, sys; gc.set_threshold(50_000); sys.path[:0] = {paths!r}; "
    "from evalsi.serving import start; start(**{options!r})"
)


def launch_pack(pack: PackInfo, on_progress: Callable[[str], None] | None) -> Launch:
    """Return the launch of a pack of the catalog, after building its environment if needed.

    An extension admits third-party packs first and enforces their granted permissions.

    Raises:
        PackEnvironmentError: the environment cannot be built.
        PackError: the pack is not admitted: it is not the one that was added to the project.
        ConfigError: no extension admits third-party packs, or provides the runtime.
    """
    if pack.is_builtin and not is_project_pack(pack.folder):
        return launch_unrestricted(pack, on_progress)
    from evalsi_kernel.extensions.hook_calls import admission
    from evalsi_kernel.extensions.installed import default_extensions

    hold = admission(pack, default_extensions())
    return hold(launch_unrestricted(pack, on_progress))


def launch_unrestricted(pack: PackInfo, on_progress: Callable[[str], None] | None) -> Launch:
    """Return the launch of a pack without enforced permissions; raise as `launch_pack`, except for admission."""
    if pack.runtime != PYTHON:
        from evalsi_kernel.extensions.hook_calls import runtime_launch
        from evalsi_kernel.extensions.installed import default_extensions

        return runtime_launch(pack, default_extensions())
    environment = ensure_environment(pack.folder, pack.name, on_progress=on_progress)

    def rebuild() -> Launch:
        fresh = ensure_environment(pack.folder, pack.name, on_progress=on_progress, rebuild=True)
        return Launch(pack.name, _command(pack, fresh))

    return Launch(pack.name, _command(pack, environment), rebuild=rebuild)


def launch_custom(ref: CustomRef, name: str) -> Launch:
    """Return the launch of a user's file or module, with the host's Python and environment variables."""
    where = {"file": str(Path(ref.target).resolve())} if ref.kind == "file" else {"module": ref.target}
    options = {**where, "attribute": ref.attribute, "name": name}
    argv = [sys.executable, "-c", _START.format(paths=[os.getcwd()], options=options)]
    return Launch(name, Command(argv, cwd=Path.cwd(), whole_environment=True))


def _command(pack: PackInfo, environment: Environment) -> Command:
    paths = [str(pack.folder / "src"), *(str(path) for path in sdk_paths(environment))]
    options = {"module": pack.module, "name": pack.name, "version": pack.version}
    # -I: ignore PYTHONPATH and the user's site-packages.
    argv = [str(environment.python), "-I", "-c", _START.format(paths=paths, options=options)]
    return Command(argv, memory_limit_bytes=pack.memory_mb * 1024 * 1024 * HARD_LIMIT_FACTOR)
