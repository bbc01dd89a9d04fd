"""Scratch folder of a pack process, removed with it; folders left by a killed kernel are removed at the next start.

A lock shows whether the owner is alive, because process IDs are reused and differ between containers that share a
folder.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress

from evalsi_kernel.errors import PackEnvironmentError


class Scratch:
    """A folder private to this user, and the descriptor that holds its lock while the kernel lives."""

    def __init__(self, folder: str, lock: int) -> None:
        self.folder = folder
        self._lock: int | None = lock

    def remove(self) -> None:
        """Remove the folder with its content, and its parent if that is empty; further calls do nothing."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            os.rmdir(self.folder)
        except OSError:
            import shutil  # Takes 2 ms, so only where the folder is not empty.

            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(lock)
        with suppress(OSError):
            os.rmdir(os.path.dirname(self.folder))


def make_scratch() -> Scratch:
    """Create a folder; avoids `tempfile`, whose import takes 5 ms. Raise `PackEnvironmentError` on failure."""
    parent = next((os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "/tmp")
    home = os.path.join(parent, f"evalsi-{os.geteuid()}")
    try:
        while True:
            with suppress(FileExistsError):
                os.mkdir(home, 0o700)
            # Another process may remove an empty or unlocked folder at the same moment: try again.
            with suppress(FileNotFoundError, BlockingIOError):
                _require_own(home)
                _sweep(home)
                folder = os.path.join(home, f"{os.getpid()}-{os.urandom(6).hex()}")
                os.mkdir(folder, 0o700)
                # A shared lock, because NFS allows no other on a folder; there nothing is swept.
                return Scratch(folder, _locked(folder, fcntl.LOCK_SH))
    except OSError as error:
        raise PackEnvironmentError(
            f"Cannot create a scratch folder in {parent}: {error.strerror}.",
            "Free some space, or set TMPDIR to a writable folder.",
            code="environment.scratch",
        ) from error


def _sweep(home: str) -> None:
    for name in os.listdir(home):
        folder = os.path.join(home, name)
        with suppress(OSError):
            Scratch(folder, _locked(folder, fcntl.LOCK_EX)).remove()


def _locked(folder: str, how: int) -> int:
    """Return a descriptor that holds the lock; raise `BlockingIOError` if it is taken, `FileNotFoundError` if gone."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        if not os.fstat(descriptor).st_nlink:
            raise FileNotFoundError(folder)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_own(home: str) -> None:
    found = os.lstat(home)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(0, f"{home} is not a folder of this user alone")
