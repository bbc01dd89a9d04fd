"""Hints for errors caused by exhausted resources: open files, processes, memory, disk space."""

from __future__ import annotations

import errno
import os

_HINTS = {
    errno.EMFILE: ("Too many open files in this process.", "Raise the limit, for example with `ulimit -n 1024`."),
    errno.ENFILE: ("Too many open files on this machine.", "Close other programs, or raise fs.file-max."),
    errno.ENOSPC: ("No space left on device.", "Free some space, and run the same command again."),
    errno.EDQUOT: ("Disk quota exceeded.", "Free some space, and run the same command again."),
    errno.ENOMEM: ("Out of memory.", "Free some memory, or score fewer records at once (--limit)."),
    errno.EAGAIN: (
        "The limit of processes or threads is reached.",
        "Close other programs, or raise the limit, for example with `ulimit -u`.",
    ),
}


def exhaustion(error: BaseException) -> tuple[str, str] | None:
    """Return a message and a hint if an error was caused by an exhausted resource, else None.

    Args:
        error: the error. Its causes, contexts and, for a group, its members are searched.
    """
    pending, seen = [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, OSError) and one.errno in _HINTS and not _is_nonblocking(one):
            return _HINTS[one.errno]
        if isinstance(one, MemoryError):
            return _HINTS[errno.ENOMEM]
        if isinstance(one, RuntimeError) and "can't start new thread" in str(one):
            return _HINTS[errno.EAGAIN]
        if isinstance(one, BaseExceptionGroup):
            pending.extend(one.exceptions)
        pending.extend(cause for cause in (one.__cause__, one.__context__) if cause is not None)
    return None


def _is_nonblocking(error: OSError) -> bool:
    # A stream in non-blocking mode raises the same errno as a failed fork, but with a different text.
    return error.errno == errno.EAGAIN and error.strerror != os.strerror(errno.EAGAIN)
