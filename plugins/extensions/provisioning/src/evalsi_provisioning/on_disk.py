"""The folders of environments in the cache: whose they are, how large, and which no installed pack wants.

It must not know how one is built.
"""

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
    """One folder.

    Args:
        folder: where it is.
        pack: whose it was built for; "" where it was never finished.
        size_bytes: what it takes on the disk, files that it shares with uv's cache counted in full.
    """

    folder: Path
    pack: str
    size_bytes: int


def folder_of(pack: PackInfo) -> Path | None:
    """Where a pack's environment lies once it is built; None for a pack without a lock."""
    try:
        return plan_environment(pack.folder, pack.name).folder
    except PackEnvironmentError:
        return None


def unwanted(packs: Iterable[PackInfo]) -> list[OnDisk]:
    """What lies among the environments and belongs to none of these packs: old ones, and remains of builds."""
    envs = cache_dir() / "envs"
    wanted = {folder_of(pack) for pack in packs}
    folders = [path for path in sorted(envs.iterdir()) if path.is_dir()] if envs.is_dir() else []
    return [OnDisk(path, _pack_of(path), size_bytes(path)) for path in folders if path not in wanted]


def remove(environment: OnDisk) -> bool:
    """Take a folder away; False where a process that builds there holds it."""
    key = environment.folder.name.removeprefix(UNFINISHED).partition("-")[0]
    lock = environment.folder.with_name(f"{key}.lock")
    try:
        with exclusive_lock(lock, timeout_s=BUSY_S):
            # Renamed first, so that nobody ever finds half of it under its name.
            gone = environment.folder.with_name(f"{UNFINISHED}{key}-removed-{os.getpid()}")
            environment.folder.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
    except LockTimeout:
        return False
    return True


def size_bytes(folder: Path) -> int:
    """What the files of a folder take on the disk."""
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
