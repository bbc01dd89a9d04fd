"""The environments of packs: each a function of its lock, shared by every project, made when it is first needed.

It must not know how an environment is built (`environment_build`, imported only when one is) or what packs compute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from evalsi_kernel.environment_plan import EnvironmentPlan, plan_environment, python_is_there, read_stamp
from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.sdk_runtime import ensure_runtime

EnvironmentState = Literal["ready", "missing", "broken", "no lock"]


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
        rebuild: make it anew although it looks whole, because its Python did not start. When another process has just
            done so, that build is taken.
        offline: take packages from uv's own cache only.

    Raises:
        PackEnvironmentError: codes `environment.*`, see docs/decisions/0003-pack-environments.md.
    """
    plan = plan_environment(pack_dir, pack_name)
    stamp = read_stamp(plan)
    if rebuild or stamp is None or not python_is_there(plan):
        from evalsi_kernel.environment_build import build_environment

        stamp = build_environment(
            plan, unwanted=stamp if rebuild else None, on_progress=on_progress or _keep_silent, offline=offline
        )
    elif not _agrees(plan):
        from evalsi_kernel.environment_build import confirm_agreement

        confirm_agreement(plan)
    return Environment(plan.python, plan.key, plan.lock_sha256, stamp.uses_host_sdk)


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


def _agrees(plan: EnvironmentPlan) -> bool:
    return plan.agreement is None or (plan.folder / plan.agreement).exists()


def _keep_silent(line: str) -> None:
    """The progress of a caller who asked for none."""
