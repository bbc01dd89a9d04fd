"""Evaluators that tell which process they run in, for tests of several. Run in processes of their own."""

from __future__ import annotations

import os
import time

from evalsi import Record, evaluator


@evaluator
def who(record: Record) -> str:
    """The output, and the process that scored it; 2 ms of work."""
    end = time.monotonic() + 0.002
    while time.monotonic() < end:
        pass
    return f"{record.output.as_text()} {os.getpid()}"


@evaluator
def leaves_for_good(record: Record) -> bool:
    """Ends the process on one output, in good order as far as the process is concerned."""
    if record.output.as_text() == "bad":
        os._exit(0)
    return True
