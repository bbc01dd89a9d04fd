"""Find, measure and remove the folders of environments in the cache."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.files.paths import cache_dir
from evalsi_kernel.packs.environment_plan import STAMP, plan_environment
from evalsi_kernel.packs.pack_info import PackInfo

UNFINISHED = ".tmp-"
BUSY_S = 0.1


class OnDisk(NamedTuple):
    """One folder of an environment.

    Args:
        folder: path of the folder.
        pack: name of the pack it was built for; "" if the build was not finished.
        size_bytes: size on disk; files shared with uv's cache are counted in full.
    """

    folder: Path
    pack: str
    size_bytes: int


def folder_of(pack: PackInfo) -> Path | None:
    """Return the folder of a pack's environment, built or not; None for a pack without a lock."""
    try:
        return plan_environment(pack.folder, pack.name).folder
    except PackEnvironmentError:
        return None


def unwanted(packs: Iterable[PackInfo]) -> list[OnDisk]:
    """Return the environments that belong to none of these packs: outdated ones and unfinished builds."""
    envs = cache_dir() / "envs"
    wanted = {folder_of(pack) for pack in packs}
    folders = [path for path in sorted(envs.iterdir()) if path.is_dir()] if envs.is_dir() else []
    return [OnDisk(path, _pack_of(path), size_bytes(path)) for path in folders if path not in wanted]


def remove(environment: OnDisk) -> bool:
    """Remove an environment; return False if another process is building it."""
    key = environment.folder.name.removeprefix(UNFINISHED).partition("-")[0]
    lock = environment.folder.with_name(f"{key}.lock")
    try:
        with exclusive_lock(lock, timeout_s=BUSY_S):
            # Rename first, so that no process finds a half-deleted environment.
            gone = environment.folder.with_name(f"{UNFINISHED}{key}-removed-{os.getpid()}")
            environment.folder.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
    except LockTimeout:
        return False
    return True


def size_bytes(folder: Path) -> int:
    """Return the size on disk of the files in a folder."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            total += os.lstat(os.path.join(where, name)).st_blocks * 512
    return total


def _pack_of(folder: Path) -> str:
    try:
        pack = json.loads((folder / STAMP).read_text("utf-8")).get("pack", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return pack if isinstance(pack, str) else ""
