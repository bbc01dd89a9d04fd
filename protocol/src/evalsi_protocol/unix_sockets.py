"""Bind a Unix socket that is private to the user, without replacing one in use."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress


def bind_unix(path: str) -> socket.socket:
    """Bind a socket that only this user can connect to. Remove a stale socket of a killed process first.

    Raises:
        OSError: the socket is in use, the path is another file, or the folder is not writable.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        with suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(path).st_mode) and not _is_answered(path):
                os.unlink(path)
        before = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
    except BaseException:
        listener.close()
        raise
    return listener


def _is_answered(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return False
        except BlockingIOError:
            pass  # A process is listening, and its backlog is full.
    return True
