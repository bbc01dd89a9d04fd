"""Sandbox of a pack's process: no network, with a count of attempts, and write access only to its own folders.

Requires Linux with unprivileged namespaces. Run as a program, it sandboxes its own process and then executes the pack.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Final

CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWNET: Final = 0x40000000
CLONE_NEWNS: Final = 0x00020000
MS_BIND_REC: Final = 0x1000 | 0x4000
MS_PRIVATE_REC: Final = 0x40000 | 0x4000
MOUNT_SETATTR: Final = 442
AT_FDCWD: Final = -100
AT_RECURSIVE: Final = 0x8000
RDONLY: Final = 1
SHARED_MEMORY: Final = b"/dev/shm"
SIOCSIFFLAGS: Final = 0x8914
UP_AND_RUNNING: Final = 0x41
TRIES: Final = 20
TRY_AGAIN_S: Final = 0.1
REFUSED: Final = 125
"""Exit code if the host does not allow namespaces."""
# What a packet, or a connection that finds no way out, adds to. Only the loopback is there, so all of it is the pack's.
_COUNTED: Final = ("OutNoRoutes", "OutRequests")


def walled(argv: tuple[str, ...], writable: tuple[Path, ...] = ()) -> list[str]:
    """Return a command that sandboxes itself and then executes `argv`.

    Args:
        argv: the command.
        writable: folders that it may write to. Everything else is read-only if this host supports it.
    """
    folders = os.pathsep.join(str(folder.resolve()) for folder in writable)
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), folders, *argv]


@cache
def can_wall() -> bool:
    """Return whether this host supports the sandbox without privileges."""
    if sys.platform != "linux":
        return False
    import subprocess  # Only who asks needs it; the walled process does not.

    done = subprocess.run(walled((sys.executable, "-I", "-S", "-c", "")), capture_output=True, timeout=30, check=False)
    return done.returncode == 0


class NetworkCounters:
    """Counts the network attempts of a sandboxed process and its children.

    The files stay open, and with them the namespace, so that what was tried last is seen after the process is gone.

    Args:
        pid: id of a process that has already sandboxed itself.

    Raises:
        OSError: the process has ended, or its counters cannot be read.
    """

    def __init__(self, pid: int) -> None:
        with ExitStack() as stack:
            names = ("snmp", "snmp6")
            self._of_ipv4, self._of_ipv6 = [
                stack.enter_context(open(f"/proc/{pid}/net/{name}", encoding="ascii")) for name in names
            ]
            self._open = stack.pop_all()

    def attempts(self) -> int:
        """The number of attempts so far."""
        counted = 0
        self._of_ipv4.seek(0)
        lines = self._of_ipv4.read().splitlines()
        for keys, values in zip(lines[::2], lines[1::2], strict=True):
            if keys.startswith("Ip:"):
                counted += sum(int(v) for k, v in zip(keys.split(), values.split(), strict=True) if k in _COUNTED)
        self._of_ipv6.seek(0)
        for line in self._of_ipv6.read().splitlines():
            key, _, value = line.partition(" ")
            if key in {f"Ip6{name}" for name in _COUNTED}:
                counted += int(value)
        return counted

    def close(self) -> None:
        """Release the namespace."""
        self._open.close()


def _shut_in(writable: list[str]) -> None:
    """Enter new namespaces: read-only files, and a network with only loopback, on which attempts are counted."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if not _done_in_time(lambda: libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)):
        raise OSError(ctypes.get_errno(), "no namespaces")
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(line)
    _only_read(libc, writable)
    import fcntl
    import socket

    # Some kernels give no loopback; IPv4 is counted without one.
    with suppress(OSError), socket.socket() as any_socket:
        fcntl.ioctl(
            any_socket, SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + UP_AND_RUNNING.to_bytes(2, sys.byteorder) + b"\0" * 14
        )


def _done_in_time(call: Callable[[], int]) -> bool:
    """Retry a system call whose resources may be in use briefly: namespaces of ended processes are released late."""
    for _ in range(TRIES):
        if call() == 0:
            return True
        if ctypes.get_errno() not in (errno.EBUSY, errno.ENOSPC, errno.EAGAIN, errno.ENOMEM):
            return False
        time.sleep(TRY_AGAIN_S)
    return False


def _only_read(libc: ctypes.CDLL, writable: list[str]) -> None:
    """Make all files read-only except below these folders. No effect if the system does not support it."""
    if libc.mount(b"none", b"/", None, MS_PRIVATE_REC, None) != 0:
        return
    folders = [os.fsencode(folder) for folder in writable]
    if any(libc.mount(folder, folder, None, MS_BIND_REC, None) != 0 for folder in folders):
        return
    # Locks and memory between processes are files there, and no trace of them stays.
    if libc.mount(b"none", SHARED_MEMORY, b"tmpfs", 0, None) == 0:
        folders.append(SHARED_MEMORY)

    def set_read_only(path: bytes, on: int, off: int) -> int:
        # struct mount_attr: what to set, what to clear, propagation, user namespace.
        attributes = (ctypes.c_uint64 * 4)(on, off, 0, 0)
        where = (ctypes.c_long(AT_FDCWD), path, ctypes.c_long(AT_RECURSIVE))
        return int(libc.syscall(ctypes.c_long(MOUNT_SETATTR), *where, attributes, ctypes.c_long(32)))

    if _done_in_time(lambda: set_read_only(b"/", RDONLY, 0)):
        for folder in folders:
            set_read_only(folder, 0, RDONLY)
        # The folder that it stands in was opened before it could be written into again.
        os.chdir(os.getcwd())


if __name__ == "__main__":
    try:
        _shut_in(list(filter(None, sys.argv[1].split(os.pathsep))))
    except OSError as error:
        print(f"No walls on this host: {error}.", file=sys.stderr)
        raise SystemExit(REFUSED) from None
    os.execvp(sys.argv[2], sys.argv[2:])
