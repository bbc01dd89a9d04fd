"""Sets a damaged cache file aside, under a name that says so, for whoever wants to look at it.

It must not know why a file is damaged; and it removes nothing.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from evalsi_kernel.errors import CacheError
from evalsi_kernel.files.file_lock import exclusive_lock

from .cache_store import WAIT_S, connect, files_of, lock_path

_MARK = "damaged"

Inode = tuple[int, int]


def connect_or_renew(path: Path, *, wait_s: float = WAIT_S) -> tuple[sqlite3.Connection, Path | None]:
    """A connection, and where a damaged file is now that a new one has taken the place of.

    Raises:
        CacheError: as `connect`, but not for a damaged file.
        OSError: a damaged file cannot be set aside; also `LockTimeout`.
    """
    inode = inode_of(path)
    try:
        return connect(path, wait_s=wait_s), None
    except CacheError as error:
        if error.code != "cache.corrupt":
            raise
    aside = set_aside(path, inode, wait_s=wait_s)
    return connect(path, wait_s=wait_s), aside


def set_aside(path: Path, inode: Inode | None, *, wait_s: float = WAIT_S) -> Path | None:
    """Rename a damaged file, unless it is gone or another one by now: another process may have done it before.

    Args:
        path: of the cache file; no connection of this process to it may be open.
        inode: of the file that was seen to be damaged.
        wait_s: how long another process that does the same is waited for.

    Returns:
        Its new path; None when there was nothing to do.

    Raises:
        OSError: it cannot be renamed.
        LockTimeout: another process was at it for too long.
    """
    with exclusive_lock(lock_path(path), timeout_s=wait_s):
        if inode is None or inode_of(path) != inode:
            return None
        aside = _free_name(path)
        # Its write-ahead log goes along; left behind, it would be taken for the new file's.
        for one in files_of(path):
            with suppress(FileNotFoundError):
                os.rename(one, aside.with_name(aside.name + one.name.removeprefix(path.name)))
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}-shm").unlink()
        return aside


def set_aside_before(path: Path) -> list[Path]:
    """The files that were set aside until now, oldest first."""
    return sorted(one for one in path.parent.glob(f"{path.name}.{_MARK}-*") if not one.name.endswith("-wal"))


def inode_of(path: Path) -> Inode | None:
    """What tells one file from another of the same name; None when there is none."""
    try:
        there = os.stat(path)
    except OSError:
        return None
    return there.st_dev, there.st_ino


def _free_name(path: Path) -> Path:
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    number = 1
    while (aside := path.with_name(f"{path.name}.{_MARK}-{stamp}-{number}")).exists():
        number += 1
    return aside
