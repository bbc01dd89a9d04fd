"""A Unix socket to listen on: for this user only, and never in the place of another's.

It must not know what is said there.
"""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress


def bind_unix(path: str) -> socket.socket:
    """Bind a socket that only this user can connect to; a socket that a killed process left is taken away first.

    Raises:
        OSError: somebody listens there, another file is there, or the folder cannot be written.
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
            pass  # Somebody listens, and so many wait already that one more would wait here too.
    return True
