"""Errors that mean that the system has no more of something: open files, processes, memory, disk space."""

from __future__ import annotations

import errno
import os

_HINTS = {
    errno.EMFILE: ("Too many files are open in this process.", "Raise the limit, such as with `ulimit -n 1024`."),
    errno.ENFILE: ("Too many files are open on this machine.", "Close other programs, or raise fs.file-max."),
    errno.ENOSPC: ("No space is left on the device.", "Free some space, and run the same command again."),
    errno.EDQUOT: ("The disk quota is used up.", "Free some space, and run the same command again."),
    errno.ENOMEM: ("There is not enough memory.", "Free some, or score fewer records at once (--limit)."),
    errno.EAGAIN: (
        "The system starts no more processes or threads.",
        "Close other programs, or raise the limit, such as with `ulimit -u`.",
    ),
}


def exhaustion(error: BaseException) -> tuple[str, str] | None:
    """Return what ran out and a hint, if an error was caused by that.

    Args:
        error: with its causes, contexts and, if it is a group, its parts.
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
    # A stream in non-blocking mode has the same number as a fork that is refused, but a text of its own.
    return error.errno == errno.EAGAIN and error.strerror != os.strerror(errno.EAGAIN)
