"""What tests may leave behind when they fail or end a kernel by force: processes, found by their variables or parents.

It must not know which test started what.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

ROUNDS = 20


def left(temporary: str) -> set[int]:
    """The ids of processes that know this folder by their variables, as a pack does, or descend from this one."""
    # No such list on other systems: there nothing is found.
    ids = {int(name) for name in os.listdir("/proc") if name.isdigit()} if os.path.isdir("/proc") else set()
    parents = {pid: _parent(pid) for pid in ids - {os.getpid()}}
    found = {pid for pid in parents if os.fsencode(temporary) in _variables(pid)}
    known = {os.getpid(), *found}
    while fresh := {pid for pid, parent in parents.items() if parent in known} - known:
        known |= fresh
    return {pid for pid in known - {os.getpid()} if parents[pid]}


def end(temporary: str) -> set[int]:
    """End them all, and what they start meanwhile; returns the ids of those that were ended."""
    ended: set[int] = set()
    for _ in range(ROUNDS):
        fresh = left(temporary) - ended
        if not fresh:
            break
        for pid in fresh:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended |= fresh
    return ended


def _parent(pid: int) -> int:
    """Its parent's id; 0 where it is gone, or dead and not yet taken note of."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else int(parent)


def _variables(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
