"""The environments of packs: each a function of its lock, shared by every project, made when it is first needed.

One that is there is found from files alone. It must not know how one is built, which is an extension's, or what packs
compute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalsi_kernel.errors import ConfigError, PackEnvironmentError
from evalsi_kernel.packs.environment_plan import is_whole, plan_environment, python_is_there, read_stamp
from evalsi_kernel.packs.pack_info import PYTHON, PackInfo
from evalsi_kernel.packs.sdk_runtime import ensure_runtime

if TYPE_CHECKING:
    from evalsi_kernel.packs.environment_builder import EnvironmentBuilder

EnvironmentState = Literal["ready", "missing", "broken", "no lock", "not needed"]


class Environment(NamedTuple):
    """A pack's environment, ready to start processes from.

    Args:
        python: its interpreter.
        key: its name in the cache.
        lock_sha256: digest of the lock it was made from, in hex.
        uses_host_sdk: the SDK is not in it and comes from the host (`sdk_paths`).
    """

    python: Path
    key: str
    lock_sha256: str
    uses_host_sdk: bool


def ensure_environment(
    pack_dir: Path,
    pack_name: str,
    *,
    on_progress: Callable[[str], None] | None = None,
    rebuild: bool = False,
    offline: bool = False,
) -> Environment:
    """The environment of a pack, built from its lock when it is not there yet or is broken.

    Args:
        pack_dir: folder with `uv.lock`, and `pyproject.toml` where there is one.
        pack_name: the pack's name, for sentences.
        on_progress: gets one line when a build, or a wait for another process's build, starts and ends.
        rebuild: look at it closely although it looks whole, because the pack did not start from it, and make it anew
            where it is not what was built. When another process has just done so, that build is taken.
        offline: fetch nothing.

    Raises:
        PackEnvironmentError: codes `environment.*`, see docs/decisions/0003-pack-environments.md.
    """
    plan = plan_environment(pack_dir, pack_name)
    stamp = read_stamp(plan)
    if rebuild or stamp is None or not is_whole(plan):
        builder, unwanted = _builder_for(pack_name), stamp if rebuild else None
        stamp = builder.build(plan, unwanted=unwanted, on_progress=on_progress or _keep_silent, offline=offline)
    return Environment(plan.python, plan.key, plan.lock_sha256, stamp.uses_host_sdk)


def pack_state(pack: PackInfo) -> EnvironmentState:
    """Whether what a pack runs in is there; one that is no Python code needs no environment."""
    return environment_state(pack.folder) if pack.runtime == PYTHON else "not needed"


def environment_state(pack_dir: Path) -> EnvironmentState:
    """Whether a pack's environment is there, told from files alone; a half-built one is `missing`."""
    try:
        plan = plan_environment(pack_dir, pack_dir.name)
    except PackEnvironmentError:
        return "no lock"
    if read_stamp(plan) is None:
        return "missing"
    return "ready" if python_is_there(plan) else "broken"


def sdk_paths(environment: Environment) -> list[Path]:
    """Folders to put in front of the import path of a process of this environment; none when it holds its own SDK.

    Raises:
        PackEnvironmentError: the host has no SDK, or the cache cannot be written.
    """
    return ensure_runtime() if environment.uses_host_sdk else []


def _builder_for(pack: str) -> EnvironmentBuilder:
    from evalsi_kernel.extensions.asking import environment_builder
    from evalsi_kernel.extensions.installed import default_extensions

    try:
        return environment_builder(default_extensions())
    except ConfigError as error:
        if error.code != "config.no_extension":
            raise
        raise PackEnvironmentError(
            f"The environment of the pack {pack} is not ready, and no extension is installed that builds environments.",
            error.hint,
            code="environment.no_builder",
        ) from error


def _keep_silent(line: str) -> None:
    """The progress of a caller who asked for none."""
