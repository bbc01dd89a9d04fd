"""A pack's process does not outlive the kernel's, not even in code that holds the interpreter for ever.

Linux only; elsewhere such a process is left to the system. It must not know what the process does.
"""

from __future__ import annotations

import os
import signal
import sys

PR_SET_PDEATHSIG = 1
_PARENT = os.getppid()


def end_with_parent() -> None:
    """Have the system kill this process as soon as its parent is gone; the wish ends with the thread that has it."""
    if sys.platform != "linux":
        return
    import ctypes  # Only a pack's process needs it.

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != _PARENT:
        # It went away before the system was asked.
        os.kill(os.getpid(), signal.SIGKILL)
