"""Look up the state of many packs' environments from files, with cached digests of their locks.

For display only; nothing is run based on it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evalsi_kernel.files.cache_file import cache_path, read_cached, write_cached
from evalsi_kernel.files.paths import cache_dir
from evalsi_kernel.packs.environment_plan import EnvironmentPlan, environment_key, python_is_there, read_stamp
from evalsi_kernel.packs.pack_info import PYTHON

if TYPE_CHECKING:
    from evalsi_kernel.planning.environments import EnvironmentState

_FORMAT = 1


class Placed(Protocol):
    """The parts of a pack used here."""

    @property
    def folder(self) -> str | Path:
        """Folder of the pack."""

    @property
    def runtime(self) -> str:
        """Runtime of the pack."""


def environment_states(packs: Sequence[Placed]) -> list[EnvironmentState]:
    """Return the state of each pack's environment, in the order of the packs."""
    envs = cache_dir() / "envs"
    digests = _lock_digests([pack for pack in packs if pack.runtime == PYTHON])
    keys = {digest: environment_key(digest) for digest in set(digests.values()) if digest is not None}
    found = {digest: _state(digest, key, envs / key) for digest, key in keys.items()}
    return [_of(pack, digests, found) for pack in packs]


def _of(
    pack: Placed, digests: dict[str | Path, str | None], found: dict[str, EnvironmentState]
) -> EnvironmentState:  # fmt: skip
    if pack.runtime != PYTHON:
        return "not needed"
    digest = digests[pack.folder]
    return "no lock" if digest is None else found[digest]


def _state(digest: str, key: str, folder: Path) -> EnvironmentState:
    plan = EnvironmentPlan("", folder, b"", None, digest, key, folder)
    if read_stamp(plan) is None:
        return "missing"
    return "ready" if python_is_there(plan) else "broken"


def _lock_digests(packs: Sequence[Placed]) -> dict[str | Path, str | None]:
    """Return the digest of each pack's lock; None if it cannot be read."""
    locks = [os.path.join(pack.folder, "uv.lock") for pack in packs]
    key = [_FORMAT, [_looks(lock) for lock in locks]]
    path = cache_path(cache_dir(), "lock-digests", "\n".join(locks))
    digests = read_cached(path, key)
    if digests is None:
        digests = [_digest(lock) for lock in locks]
        # A failed write of the cache is harmless.
        write_cached(path, key, digests)
    return {pack.folder: digest for pack, digest in zip(packs, digests, strict=True)}


def _looks(path: str) -> list[int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size]


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None
