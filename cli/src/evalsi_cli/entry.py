"""The entry point of the installed command: Ctrl-C ends it quietly while its modules are still being imported."""

from __future__ import annotations

import signal
from typing import NoReturn

if _is_interruptible := signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # The system's own handling: the process ends at once, without a traceback of whatever was being imported.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_and_exit() -> NoReturn:
    """Import the command, restore Python's handling of Ctrl-C, and run."""
    from evalsi_cli import main

    if _is_interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main.run_and_exit()
