"""Locate the environment of a pack's lock on this host and check its stamp; the fast path, without any process."""

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
    """The lock of a pack and the place of its environment.

    Args:
        pack: name of the pack, for messages.
        source: folder of the pack.
        lock: content of its `uv.lock`.
        pyproject: content of its `pyproject.toml`; None where the pack has none.
        lock_sha256: SHA-256 of `lock`, in hex.
        key: identifies the environment; equal for the same lock, Python and platform.
        folder: folder of the built environment.
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
        """Path of the environment's interpreter."""
        return self.folder / "bin" / "python"

    @property
    def agreement(self) -> str | None:
        """Name of the empty marker file in the environment that records that `pyproject.toml` matches the lock."""
        if self.pyproject is None:
            return None
        return f".evalsi-agrees-{hashlib.sha256(self.pyproject).hexdigest()[:16]}"


class Stamp(NamedTuple):
    """The stamp of a complete environment, written last; `raw` distinguishes builds."""

    lock_sha256: str
    uses_host_sdk: bool
    raw: bytes


def plan_environment(pack_dir: Path, pack_name: str) -> EnvironmentPlan:
    """Read a pack's lock and return the plan of its environment.

    Raises:
        PackEnvironmentError: `environment.no_lock`: the lock is missing or unreadable.
    """
    path = pack_dir / "uv.lock"
    try:
        lock = path.read_bytes()
    except OSError as error:
        raise PackEnvironmentError(
            f"The lock of the pack {pack_name} cannot be read: {path}: {error.strerror or error}.",
            f"Run `uv lock` in {pack_dir}, or reinstall the pack.",
            code="environment.no_lock",
        ) from error
    lock_sha256 = hashlib.sha256(lock).hexdigest()
    key = environment_key(lock_sha256)
    folder = cache_dir() / "envs" / key
    return EnvironmentPlan(
        pack_name, pack_dir, lock, _optional_bytes(pack_dir / "pyproject.toml"), lock_sha256, key, folder
    )


def environment_key(lock_sha256: str) -> str:
    """Return the key of a lock's environment on this Python and platform: 16 hexadecimal digits."""
    parts = [
        f"layout {LAYOUT}",
        lock_sha256,
        sys.implementation.name,
        sys.version,
        sys.abiflags,
        sys.platform,
        os.uname().machine,
        # Distinguishes glibc from musl where two containers share a cache.
        str(getattr(sys.implementation, "_multiarch", "")),
        base_python(),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def base_python() -> str:
    """Return the interpreter that environments are created from: the host's, outside of any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def read_stamp(plan: EnvironmentPlan) -> Stamp | None:
    """Return the stamp of the plan's environment; None where the build was not finished."""
    raw = _optional_bytes(plan.folder / STAMP)
    if raw is None:
        return None
    try:
        fields = json.loads(raw)
        stamp = Stamp(fields["lock_sha256"], fields["uses_host_sdk"], raw)
    except (ValueError, TypeError, KeyError):
        # A partial write means an unfinished build.
        return None
    return stamp if stamp.lock_sha256 == plan.lock_sha256 else None


def python_is_there(plan: EnvironmentPlan) -> bool:
    """Return whether the interpreter exists; its link dangles once the base Python is removed."""
    return os.access(plan.python, os.X_OK)


def agrees(plan: EnvironmentPlan) -> bool:
    """Return whether the pack's `pyproject.toml`, if any, is recorded to match its lock."""
    return plan.agreement is None or (plan.folder / plan.agreement).exists()


def is_whole(plan: EnvironmentPlan) -> bool:
    """Return whether an environment with a stamp can be used."""
    return python_is_there(plan) and agrees(plan)


def _optional_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
