"""How each kind of pack starts: a catalogued pack in its environment, a user's file or module, objects at hand.

It must not know what the pack computes or how work is divided.
"""

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
# What is loaded makes no garbage worth a search; `start` says the same once it is there, and more.
_START = (
    "import gc, sys; gc.set_threshold(50_000); sys.path[:0] = {paths!r}; "
    "from evalsi.serving import start; start(**{options!r})"
)


def launch_pack(pack: PackInfo, on_progress: Callable[[str], None] | None) -> Launch:
    """A pack of the catalog: its environment is built when it is not there yet.

    A third party's is admitted first, and held to what it was granted, by the extension that does so.

    Raises:
        PackEnvironmentError: the environment cannot be built.
        PackError: it is not admitted: it is not what was added to the project.
        ConfigError: no extension admits third parties' packs, or brings its runtime.
    """
    if pack.is_builtin and not is_project_pack(pack.folder):
        return launch_unheld(pack, on_progress)
    from evalsi_kernel.extensions.asking import admission
    from evalsi_kernel.extensions.installed import default_extensions

    hold = admission(pack, default_extensions())
    return hold(launch_unheld(pack, on_progress))


def launch_unheld(pack: PackInfo, on_progress: Callable[[str], None] | None) -> Launch:
    """The launch of a pack that nothing holds to what it may do; raises as `launch_pack` does, save for admission."""
    if pack.runtime != PYTHON:
        from evalsi_kernel.extensions.asking import runtime_launch
        from evalsi_kernel.extensions.installed import default_extensions

        return runtime_launch(pack, default_extensions())
    environment = ensure_environment(pack.folder, pack.name, on_progress=on_progress)

    def rebuild() -> Launch:
        fresh = ensure_environment(pack.folder, pack.name, on_progress=on_progress, rebuild=True)
        return Launch(pack.name, _command(pack, fresh))

    return Launch(pack.name, _command(pack, environment), rebuild=rebuild)


def launch_custom(ref: CustomRef, name: str) -> Launch:
    """A user's file or module, with the Python and the variables of the caller."""
    where = {"file": str(Path(ref.target).resolve())} if ref.kind == "file" else {"module": ref.target}
    options = {**where, "attribute": ref.attribute, "name": name}
    argv = [sys.executable, "-c", _START.format(paths=[os.getcwd()], options=options)]
    return Launch(name, Command(argv, cwd=Path.cwd(), whole_environment=True))


def _command(pack: PackInfo, environment: Environment) -> Command:
    paths = [str(pack.folder / "src"), *(str(path) for path in sdk_paths(environment))]
    options = {"module": pack.module, "name": pack.name, "version": pack.version}
    # -I: neither the caller's PYTHONPATH nor the user's site-packages reach a pack.
    argv = [str(environment.python), "-I", "-c", _START.format(paths=paths, options=options)]
    return Command(argv, memory_limit_bytes=pack.memory_mb * 1024 * 1024 * HARD_LIMIT_FACTOR)
