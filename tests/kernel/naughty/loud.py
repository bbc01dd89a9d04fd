"""A pack that treats its streams badly, already while it is imported. Run in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from evalsi import Record, evaluator

print("a banner", flush=True)
os.write(1, b"\x00\x00\x00\x05what looks like a frame\n")
hoard: list[bytearray] = []


@evaluator
def writes_megabytes(record: Record) -> bool:
    """Writes more to stderr than any pipe holds, the last of it without a line end; then dies on one output."""
    for number in range(10_000):
        sys.stderr.write(f"line {number}: {'e' * 80}\n")
    sys.stderr.write("without end " * 50_000)
    if record.output.as_text() == "bad":
        sys.stderr.write("\nlast words\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    return True


@evaluator
def leaves(record: Record) -> bool:
    """Wishes to end the process on one output."""
    if record.output.as_text() == "bad":
        sys.exit("enough")
    return True


@evaluator
def closes_standard_streams(record: Record) -> bool:
    """Closes what it takes for its input and its output."""
    if record.output.as_text() == "bad":
        os.close(0)
        os.close(1)
    return True


@evaluator
def closes_everything(record: Record) -> bool:
    """Closes whatever is open, the way to the kernel too."""
    if record.output.as_text() == "bad":
        os.closerange(0, 100)
    return True


@evaluator
def closes_everything_and_stays(record: Record) -> bool:
    """Closes whatever is open, the way to the kernel too, and never ends by itself."""
    if record.output.as_text() == "bad":
        os.closerange(0, 100)
        signal.pause()
    return True


@evaluator
def leaves_a_child(record: Record) -> bool:
    """Dies on one output, while a child in its group lives on that has inherited every stream."""
    if record.output.as_text() == "bad":
        subprocess.Popen(["sleep", "60"], close_fds=False)
        _fork_one_that_waits()
        os.kill(os.getpid(), signal.SIGKILL)
    return True


@evaluator
def leaves_a_daemon(record: Record, *, where: str) -> bool:
    """Dies on one output, while a child outside its group lives on; writes the child's id to a file."""
    if record.output.as_text() == "bad":
        child = _fork_one_that_waits(apart=True)
        with Path(where).open("a") as file:
            file.write(f"{child}\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return True


@evaluator
def asks_for_endless_memory(record: Record) -> bool:
    """Takes memory until there is none on one output."""
    while record.output.as_text() == "bad":
        hoard.append(bytearray(16_000_000))
    return True


@evaluator
def is_killed_for_want_of_memory(record: Record) -> bool:
    """Asks for memory in a way that ends the process where there is none, as many a library in C does."""
    try:
        while record.output.as_text() == "bad":
            hoard.append(bytearray(16_000_000))
    except MemoryError:
        os.abort()
    return True


@evaluator
def leaves_files(record: Record) -> bool:
    """Leaves a file in its folder and one in the place for temporary files; dies on one output."""
    Path("left").touch()
    Path(os.environ["TMPDIR"], "temporary").touch()
    if record.output.as_text() == "bad":
        os.kill(os.getpid(), signal.SIGKILL)
    return True


def _fork_one_that_waits(*, apart: bool = False) -> int:
    child = os.fork()
    if child == 0:
        if apart:
            os.setsid()
        signal.pause()
    return child
