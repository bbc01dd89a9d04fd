"""Evaluators that misbehave, one way each, for the supervisor's tests. Run in a process of their own."""

from __future__ import annotations

import ctypes
import os
import sys
import time

from evalsi import Record, evaluator

hoard: list[bytearray] = []


@evaluator
def shout(record: Record) -> bool:
    """Fine, but for what it prints."""
    print("a print to stdout", record.id)
    sys.stderr.write(f"stderr of {record.id}\n")
    return record.output.as_text() == "good"


@evaluator
def crash_on_bad(record: Record) -> bool:
    """Ends the whole process on one output."""
    if record.output.as_text() == "bad":
        sys.stderr.write("about to die\n")
        sys.stderr.flush()
        os.kill(os.getpid(), 9)
    return True


@evaluator
def segfault_always(record: Record) -> bool:
    """Ends the process on every record."""
    ctypes.string_at(0)
    return True


@evaluator
def hang_on_bad(record: Record) -> bool:
    """Never comes back for one output, but lets other threads run."""
    while record.output.as_text() == "bad":
        time.sleep(0.01)
    return True


@evaluator
def hang_hard_on_bad(record: Record) -> bool:
    """Never comes back for one output, and holds the interpreter while it hangs."""
    if record.output.as_text() == "bad":
        ctypes.PyDLL(None).pause()
    return True


@evaluator
def leak(record: Record) -> bool:
    """Holds 8 MB more after each record."""
    hoard.append(bytearray(os.urandom(1)) * 8_000_000)
    return True


@evaluator
def raise_on_bad(record: Record) -> float:
    """Raises on one output."""
    if record.output.as_text() == "bad":
        raise RuntimeError("no such luck")
    return 0.5


@evaluator
def not_a_number(record: Record) -> float:
    """Answers NaN on one output."""
    return float("nan") if record.output.as_text() == "bad" else 0.5


@evaluator
def slow(record: Record) -> bool:
    """Takes 20 ms of processor time a record."""
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    return True
