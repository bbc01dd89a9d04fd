"""Walls around a pack's process: no network, counting who tried, and no file to write but in its own folders.

On Linux, where unprivileged namespaces are allowed. Run as a program, it shuts its own process in and becomes the
pack's. It must not know the protocol.
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
"""The exit code of a host that allows no namespaces."""
# What a packet, or a connection that finds no way out, adds to. Only the loopback is there, so all of it is the pack's.
_COUNTED: Final = ("OutNoRoutes", "OutRequests")


def walled(argv: tuple[str, ...], writable: tuple[Path, ...] = ()) -> list[str]:
    """The words of a command that shuts itself in and then becomes `argv`.

    Args:
        argv: the command.
        writable: folders that it may write into; whatever else there is can only be read, where this host bears that.
    """
    folders = os.pathsep.join(str(folder.resolve()) for folder in writable)
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), folders, *argv]


@cache
def can_wall() -> bool:
    """Whether this host lets a process shut itself in without privileges."""
    if sys.platform != "linux":
        return False
    import subprocess  # Only who asks needs it; the walled process does not.

    done = subprocess.run(walled((sys.executable, "-I", "-S", "-c", "")), capture_output=True, timeout=30, check=False)
    return done.returncode == 0


class NetworkCounters:
    """How often a walled process, or a child of it, tried to reach something by the network.

    The files stay open, and with them the namespace, so that what was tried last is seen after the process is gone.

    Args:
        pid: of a process that has shut itself in by now.

    Raises:
        OSError: the process is gone, or its counters cannot be read.
    """

    def __init__(self, pid: int) -> None:
        with ExitStack() as stack:
            names = ("snmp", "snmp6")
            self._of_ipv4, self._of_ipv6 = [
                stack.enter_context(open(f"/proc/{pid}/net/{name}", encoding="ascii")) for name in names
            ]
            self._open = stack.pop_all()

    def attempts(self) -> int:
        """The number up to now."""
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
        """Let the namespace go."""
        self._open.close()


def _shut_in(writable: list[str]) -> None:
    """Namespaces of its own: files to read only, and a network whose loopback is up so that attempts are counted."""
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
    """Make a system call that may find its resources taken for a moment: namespaces of ended processes go late."""
    for _ in range(TRIES):
        if call() == 0:
            return True
        if ctypes.get_errno() not in (errno.EBUSY, errno.ENOSPC, errno.EAGAIN, errno.ENOMEM):
            return False
        time.sleep(TRY_AGAIN_S)
    return False


def _only_read(libc: ctypes.CDLL, writable: list[str]) -> None:
    """Have all files read only but those below these folders; without an effect where the system does not know how."""
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
