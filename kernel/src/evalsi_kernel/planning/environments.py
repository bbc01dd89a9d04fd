"""Provide pack environments, which are shared by all projects and built from their lock on first use.

An existing environment is found by looking at files only; an extension builds missing ones.
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
    """A ready environment of a pack.

    Args:
        python: path of its interpreter.
        key: its name in the cache.
        lock_sha256: SHA-256 of the lock it was built from, in hex.
        uses_host_sdk: whether it has no SDK, so that the host's is used (`sdk_paths`).
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
    """Return the environment of a pack, built from its lock if it is missing or broken.

    Args:
        pack_dir: folder with `uv.lock` and, optionally, `pyproject.toml`.
        pack_name: name of the pack, for messages.
        on_progress: receives a line when a build, or a wait for another process's build, starts and ends.
        rebuild: verify a seemingly complete environment, because the pack did not start from it, and rebuild it if it
            was modified. A build that another process has just finished is used.
        offline: download nothing.

    Raises:
        PackEnvironmentError: with a code `environment.*`, see docs/decisions/0003-pack-environments.md.
    """
    plan = plan_environment(pack_dir, pack_name)
    stamp = read_stamp(plan)
    if rebuild or stamp is None or not is_whole(plan):
        builder, unwanted = _builder_for(pack_name), stamp if rebuild else None
        stamp = builder.build(plan, unwanted=unwanted, on_progress=on_progress or _ignore, offline=offline)
    return Environment(plan.python, plan.key, plan.lock_sha256, stamp.uses_host_sdk)


def pack_state(pack: PackInfo) -> EnvironmentState:
    """Return the state of a pack's environment; packs that are not Python code need none."""
    return environment_state(pack.folder) if pack.runtime == PYTHON else "not needed"


def environment_state(pack_dir: Path) -> EnvironmentState:
    """Return the state of an environment by looking at files only; a partial build is `missing`."""
    try:
        plan = plan_environment(pack_dir, pack_dir.name)
    except PackEnvironmentError:
        return "no lock"
    if read_stamp(plan) is None:
        return "missing"
    return "ready" if python_is_there(plan) else "broken"


def sdk_paths(environment: Environment) -> list[Path]:
    """Return folders for the front of the import path of this environment's processes; none if it has its own SDK.

    Raises:
        PackEnvironmentError: the host has no SDK, or the cache is not writable.
    """
    return ensure_runtime() if environment.uses_host_sdk else []


def _builder_for(pack: str) -> EnvironmentBuilder:
    from evalsi_kernel.extensions.hook_calls import environment_builder
    from evalsi_kernel.extensions.installed import default_extensions

    try:
        return environment_builder(default_extensions())
    except ConfigError as error:
        if error.code != "config.no_extension":
            raise
        raise PackEnvironmentError(
            f"The environment of the pack {pack} is not ready, and no installed extension builds environments.",
            error.hint,
            code="environment.no_builder",
        ) from error


def _ignore(line: str) -> None:
    """Ignore progress."""
