"""End a pack's process when the kernel's process ends, even if the interpreter is blocked. Linux only."""

from __future__ import annotations

import os
import signal
import sys

PR_SET_PDEATHSIG = 1
_PARENT = os.getppid()


def end_with_parent() -> None:
    """Let the system kill this process when its parent ends. Call it in the main thread: it ends with the thread."""
    if sys.platform != "linux":
        return
    import ctypes  # Imported late: only a pack's process needs it.

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != _PARENT:
        # The parent ended before prctl was called.
        os.kill(os.getpid(), signal.SIGKILL)
