"""Which environment a pack's lock asks for on this host, where it lies, and whether its stamp says that it is whole.

It must not know how an environment is built, and starts no process: this is the path of every warm run.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.files.paths import cache_dir

LAYOUT = 1
STAMP = ".evalsi-ready"


class EnvironmentPlan(NamedTuple):
    """What a pack's folder asks for: its lock, and the place of the environment that follows from it.

    Args:
        pack: the pack's name, for sentences.
        source: the pack's folder.
        lock: the bytes of its `uv.lock`.
        pyproject: the bytes of its `pyproject.toml`; None where only the lock travels with the code.
        lock_sha256: digest of `lock`, in hex.
        key: names the environment: equal for the same lock on the same Python and platform.
        folder: where the environment lies once it is built.
    """

    pack: str
    source: Path
    lock: bytes
    pyproject: bytes | None
    lock_sha256: str
    key: str
    folder: Path

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "bin" / "python"

    @property
    def agreement(self) -> str | None:
        """Name of the empty file in the environment that says: this `pyproject.toml` was found to fit the lock."""
        if self.pyproject is None:
            return None
        return f".evalsi-agrees-{hashlib.sha256(self.pyproject).hexdigest()[:16]}"


class Stamp(NamedTuple):
    """The mark of a whole environment, written last: `raw` tells one build from another."""

    lock_sha256: str
    uses_host_sdk: bool
    raw: bytes


def plan_environment(pack_dir: Path, pack_name: str) -> EnvironmentPlan:
    """Read a pack's lock and name its environment.

    Raises:
        PackEnvironmentError: `environment.no_lock` when the folder has no lock that can be read.
    """
    path = pack_dir / "uv.lock"
    try:
        lock = path.read_bytes()
    except OSError as error:
        raise PackEnvironmentError(
            f"The pack {pack_name} has no lock that can be read: {path}: {error.strerror or error}.",
            f"Run `uv lock` in {pack_dir}, or install the pack again.",
            code="environment.no_lock",
        ) from error
    lock_sha256 = hashlib.sha256(lock).hexdigest()
    key = environment_key(lock_sha256)
    folder = cache_dir() / "envs" / key
    return EnvironmentPlan(
        pack_name, pack_dir, lock, _optional_bytes(pack_dir / "pyproject.toml"), lock_sha256, key, folder
    )


def environment_key(lock_sha256: str) -> str:
    """The name of the environment of a lock on this Python and platform: 16 hex digits."""
    parts = [
        f"layout {LAYOUT}",
        lock_sha256,
        sys.implementation.name,
        sys.version,
        sys.abiflags,
        sys.platform,
        os.uname().machine,
        # Tells glibc from musl where two containers share a cache.
        str(getattr(sys.implementation, "_multiarch", "")),
        base_python(),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def base_python() -> str:
    """The interpreter that environments are made from: the host's, outside any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def read_stamp(plan: EnvironmentPlan) -> Stamp | None:
    """The stamp of the plan's environment; None when it was never finished."""
    raw = _optional_bytes(plan.folder / STAMP)
    if raw is None:
        return None
    try:
        fields = json.loads(raw)
        stamp = Stamp(fields["lock_sha256"], fields["uses_host_sdk"], raw)
    except (ValueError, TypeError, KeyError):
        # A torn write is a build that was not finished.
        return None
    return stamp if stamp.lock_sha256 == plan.lock_sha256 else None


def python_is_there(plan: EnvironmentPlan) -> bool:
    """Whether the interpreter exists: its link dangles once the Python it was made from has been removed."""
    return os.access(plan.python, os.X_OK)


def agrees(plan: EnvironmentPlan) -> bool:
    """Whether the pack's `pyproject.toml`, where there is one, was found to fit its lock."""
    return plan.agreement is None or (plan.folder / plan.agreement).exists()


def is_whole(plan: EnvironmentPlan) -> bool:
    """Whether an environment with a stamp can be used as it is."""
    return python_is_there(plan) and agrees(plan)


def _optional_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
