"""Kill the processes that a started process leaves behind, including those in sessions of their own (Linux).

This process is a child subreaper while something that it started runs: it adopts a pack's orphans instead of init. An
orphan is recognized by a marker in its environment, by its session, or because it was seen below the process before
that ended. An orphan of a sandboxed process is also recognized by its no_new_privs flag.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

VARIABLE = "EVALSI_STARTED_BY"
ROUNDS = 100
"""Maximum number of scans: killed processes may leave orphans of their own."""
MOST_ENDED = 16
"""Number of ended processes whose cleanup may be deferred."""
REAP_S = 1.0
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37


class _Process(NamedTuple):
    parent: int
    session: int


class _Adoption:
    """Makes this process a child subreaper as long as something that it started runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._was_adopting = 0
        self._ended: list[Descendants] = []
        self.started: set[Descendants] = set()

    def begin(self, one: Descendants) -> None:
        """Start to adopt orphans."""
        with self._lock:
            if not self.started and not self._ended:
                self._was_adopting = _adopts()
                _adopt(1)
            self.started.add(one)

    def end(self, one: Descendants) -> None:
        """Clean up after a process; deferred to the last running one, to scan all processes only once."""
        with self._lock:
            self.started.discard(one)
            if one.sessions:
                self._ended.append(one)
            if self.started and len(self._ended) < MOST_ENDED:
                return
            try:
                _end(self._ended, self.started)
            finally:
                self._ended.clear()
                if not self.started:
                    _adopt(self._was_adopting)


_adoption = _Adoption()


class Descendants:
    """All processes that one or several started processes start.

    Create it before the processes and add `variables` to their environment. Call `end` even where a process could not
    be started.

    Args:
        is_looked_at: whether `look` searches for processes below the started one, which takes some milliseconds.

    Attributes:
        variables: marker of the process and its descendants.
        sessions: IDs of the started processes, each a session leader; add them once they are known.
    """

    def __init__(self, *, is_looked_at: bool = False) -> None:
        mark = f"{os.getpid()}-{os.urandom(8).hex()}"
        self.variables = {VARIABLE: mark}
        self.mark = os.fsencode(f"{VARIABLE}={mark}")
        self.sessions: set[int] = set()
        self.seen: set[int] = set()
        self.is_walled = False
        self._is_looked_at = is_looked_at
        self._is_over = False
        if sys.platform == "linux":
            # Before the process starts: an orphan that it leaves immediately would be adopted by init for good.
            _adoption.begin(self)

    def look(self) -> None:
        """Remember the processes below the started one, before it is asked to end."""
        if sys.platform == "linux" and self.sessions and not self._is_over:
            # A later look, when the process may have ended, does not take back what an earlier one saw.
            self.is_walled |= any(map(_no_new_privileges, self.sessions)) and not _no_new_privileges(os.getpid())
            if self._is_looked_at:
                self.seen |= _below(self.sessions, _processes())

    def end(self) -> None:
        """Kill all remaining descendants; call it once the process has ended. Further calls do nothing."""
        if sys.platform == "linux" and not self._is_over:
            self._is_over = True
            _adoption.end(self)


def _end(ended: Sequence[Descendants], running: set[Descendants]) -> None:
    own, own_session = os.getpid(), os.getsid(0)
    running_pids = {pid for one in running for pid in one.sessions}
    marks = {one.mark for one in ended}
    sessions = {pid for one in ended for pid in one.sessions}
    known = {pid for one in ended for pid in one.seen}
    is_walled = not running and any(one.is_walled for one in ended)

    def is_left(pid: int, process: _Process) -> bool:
        if process.parent != own or pid in running_pids:
            return False
        if pid in known or process.session in sessions or _bears(pid, marks):
            return True
        return is_walled and process.session != own_session and _no_new_privileges(pid)

    for _ in range(ROUNDS):
        if not _has_children():
            return
        processes = _processes()
        left = {pid for pid, process in processes.items() if is_left(pid, process)}
        if not left:
            return
        killed = left | _below(left, processes)
        known |= killed
        for pid in killed:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            _reap(pid)


def _processes() -> dict[int, _Process]:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # The program's name, in parentheses, may contain any character.
                fields = file.read().rpartition(b")")[2].split()
                found[int(name)] = _Process(int(fields[1]), int(fields[3]))
    return found


def _below(pids: set[int], processes: dict[int, _Process]) -> set[int]:
    below: set[int] = set()
    fresh = pids
    while fresh:
        fresh = {one for one, (parent, _) in processes.items() if parent in fresh} - below
        below |= fresh
    return below


def _bears(pid: int, marks: set[bytes]) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return not marks.isdisjoint(file.read().split(b"\0"))
    return False


def _no_new_privileges(pid: int) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
        return b"\nNoNewPrivs:\t1" in file.read()
    return False


def _has_children() -> bool:
    """Return whether there is any child process; one system call in the usual case of none."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reap(pid: int) -> None:
    """Collect the exit code of an adopted process, which would otherwise remain a zombie."""
    with suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [], REAP_S)
        finally:
            os.close(descriptor)
        os.waitpid(pid, os.WNOHANG)


def _adopts() -> int:
    import ctypes

    answer = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return answer.value


def _adopt(value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)
