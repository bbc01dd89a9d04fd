"""The scratch folder of a pack's process, gone with it; those that a killed kernel left are gone with the next start.

It must not know what a pack keeps there. A lock says whose kernel is alive: ids of processes are used again, and differ
between containers that share a folder.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress

from evalsi_kernel.errors import PackEnvironmentError


class Scratch:
    """A folder that only this user can enter, and the descriptor that holds its lock as long as the kernel lives."""

    def __init__(self, folder: str, lock: int) -> None:
        self.folder = folder
        self._lock: int | None = lock

    def remove(self) -> None:
        """Take it away with all that the pack left in it, and the folder above once that is empty; once is enough."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            os.rmdir(self.folder)
        except OSError:
            import shutil  # 2 ms that only a pack which left something there need pay.

            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(lock)
        with suppress(OSError):
            os.rmdir(os.path.dirname(self.folder))


def make_scratch() -> Scratch:
    """A new folder; as tempfile makes one, without the 5 ms that its import takes. Raises `PackEnvironmentError`."""
    parent = next((os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "/tmp")
    home = os.path.join(parent, f"evalsi-{os.geteuid()}")
    try:
        while True:
            with suppress(FileExistsError):
                os.mkdir(home, 0o700)
            # Whoever starts or ends in the same moment may take away what is empty or not locked yet: once more then.
            with suppress(FileNotFoundError, BlockingIOError):
                _require_own(home)
                _sweep(home)
                folder = os.path.join(home, f"{os.getpid()}-{os.urandom(6).hex()}")
                os.mkdir(folder, 0o700)
                # Shared, since NFS gives no other lock on a folder; there nothing is swept.
                return Scratch(folder, _locked(folder, fcntl.LOCK_SH))
    except OSError as error:
        raise PackEnvironmentError(
            f"No scratch folder can be made in {parent}: {error.strerror}.",
            "Free some space, or set TMPDIR to a folder that can be written.",
            code="environment.scratch",
        ) from error


def _sweep(home: str) -> None:
    for name in os.listdir(home):
        folder = os.path.join(home, name)
        with suppress(OSError):
            Scratch(folder, _locked(folder, fcntl.LOCK_EX)).remove()


def _locked(folder: str, how: int) -> int:
    """A descriptor that holds the lock; raises `BlockingIOError` where another does, `FileNotFoundError` if gone."""
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
