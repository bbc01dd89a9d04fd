"""A lock between processes: one `flock` on a file, waited for within a bound.

It must not know what the lock guards. POSIX only, as the supervisor of packs is.
"""

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
    """Hold the lock on `path` inside the block; the file is made when it is absent and never removed.

    Args:
        path: the lock's file, in a folder that exists.
        timeout_s: longest wait.
        on_wait: called once when someone else holds the lock.

    Returns:
        The lock's file descriptor. A child that inherits it holds the lock until it ends too, so that what an orphan of
        a killed process still writes is guarded as well.

    Raises:
        LockTimeout: the lock did not come free in time.
        OSError: the file cannot be made or opened.
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
            # A blocking flock has no time limit, and an alarm would belong to the main thread.
            time.sleep(POLL_S)


def _still_there(descriptor: int, path: Path) -> bool:
    """Whether the locked file is the one that others will open: the folder may have been cleared while we waited."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
