"""Walls around a pack's process: no network on Linux, where unprivileged namespaces are allowed; and who tried.

Run as a program, it shuts its own process in and becomes the pack's. It must not know the protocol.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Final

CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWNET: Final = 0x40000000
SIOCSIFFLAGS: Final = 0x8914
UP_AND_RUNNING: Final = 0x41
REFUSED: Final = 125
"""The exit code of a host that allows no namespaces."""
# What a packet, or a connection that finds no way out, adds to. Only the loopback is there, so all of it is the pack's.
_COUNTED: Final = ("OutNoRoutes", "OutRequests")


def walled(argv: tuple[str, ...]) -> list[str]:
    """The words of a command that shuts itself in and then becomes `argv`."""
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), *argv]


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


def _shut_in() -> None:
    """A user and a network namespace of its own, the loopback up so that every attempt is counted."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no namespaces")
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(line)
    import fcntl
    import socket

    # Some kernels give no loopback; IPv4 is counted without one.
    with suppress(OSError), socket.socket() as any_socket:
        fcntl.ioctl(
            any_socket, SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + UP_AND_RUNNING.to_bytes(2, sys.byteorder) + b"\0" * 14
        )


if __name__ == "__main__":
    try:
        _shut_in()
    except OSError as error:
        print(f"No walls on this host: {error}.", file=sys.stderr)
        raise SystemExit(REFUSED) from None
    os.execvp(sys.argv[1], sys.argv[1:])
