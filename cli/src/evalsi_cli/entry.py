"""Entry point of the installed command. Ctrl-C during imports ends it without a traceback."""

from __future__ import annotations

import signal
from typing import NoReturn

if _is_interruptible := signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # The default action of the system ends the process at once, without a Python traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_and_exit() -> NoReturn:
    """Import the command, restore Python's handling of Ctrl-C, and run."""
    from evalsi_cli import main

    if _is_interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main.run_and_exit()
