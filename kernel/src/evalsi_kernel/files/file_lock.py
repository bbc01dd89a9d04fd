"""A lock between processes: a `flock` on a file, with a timeout (POSIX only)."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_S = 0.05


class LockTimeout(Exception):
    """Another process held the lock for the whole wait."""


@contextmanager
def exclusive_lock(path: Path, *, timeout_s: float, on_wait: Callable[[], None] | None = None) -> Iterator[int]:
    """Hold the lock on `path` inside of the block; the file is created if absent and never removed.

    Args:
        path: the lock file, in an existing folder.
        timeout_s: maximum wait.
        on_wait: called once if another process holds the lock.

    Returns:
        The file descriptor of the lock. A child that inherits it also holds the lock until it ends, so that writes of
        an orphaned child are guarded.

    Raises:
        LockTimeout: the lock was not released in time.
        OSError: the file cannot be created or opened.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _acquire(descriptor, deadline_s, on_wait)
            if _still_there(descriptor, path):
                yield descriptor
                return
        finally:
            os.close(descriptor)
        on_wait = None


def _acquire(descriptor: int, deadline_s: float, on_wait: Callable[[], None] | None) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline_s:
                raise LockTimeout from None
            if on_wait is not None:
                on_wait()
                on_wait = None
            # A blocking flock has no timeout, and alarms only work in the main thread.
            time.sleep(POLL_S)


def _still_there(descriptor: int, path: Path) -> bool:
    """Return whether the locked file still exists at the path; the folder may have been cleared meanwhile."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
