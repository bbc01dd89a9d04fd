"""Confine this child process with the means of Linux (seccomp, namespaces, Landlock), then execute the pack's program.

Run as `python -I -S confined_start.py RULES -- PROGRAM ARGUMENTS…`, so only the standard library is available. A
mechanism that this host lacks is skipped; if one that exists fails, the process exits with an error.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import struct
import sys

# prctl, unshare and seccomp, as in the headers of Linux.
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_ARCHITECTURES = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}
"""Machine → its audit architecture for seccomp, and the numbers of the system calls `socket` and `socketpair`."""
_INET, _INET6, _NETLINK, _NETLINK_ROUTE = 2, 10, 16, 0
_STREAM, _SEQPACKET, _TYPE_MASK = 1, 5, 0xF
_IO_URING_SETUP = 425
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EACCES, 0x80000000

# Landlock: the numbers of its three system calls are the same on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Rights to execute, to read files and to list folders."""
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""Rights that apply to files other than folders: execute, write, read, truncate, ioctl on devices."""
_ALL_OF = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPED_FROM, _SCOPED = 6, 1 << 0 | 1 << 1
"""Block abstract sockets and signals to processes outside of the sandbox."""
_NOT_HERE = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSPC})

_libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> int:
    """Apply RULES, then execute the program; without a program, print which restrictions are in effect (JSON)."""
    rules, command = json.loads(arguments[0]), arguments[2:]
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    stands = {"network": False, "files": False}
    _limit_memory(rules.get("memory_bytes", 0))
    if rules["network"]:
        # seccomp also blocks Unix sockets and needs no privilege; the namespace is for machines without a filter here.
        stands["network"] = _refuse_sockets(()) or _leave_network()
    else:
        _refuse_sockets((_INET, _INET6))
    if rules["files"]:
        home = [os.environ["HOME"]] if rules["home"] == "writable" else []
        stands["files"] = _wall_off_files(rules["read"], [*rules["write"], *home, os.getcwd()])
    if not command:
        print(json.dumps(stands))
        return 0
    if rules["files"] and rules["home"] == "scratch":
        # The real home folder is not accessible; libraries write their caches to the scratch folder instead.
        os.environ["HOME"] = os.getcwd()
    os.execv(command[0], command)


def _leave_network() -> bool:
    """Move to a new network namespace, in which no device is up."""
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return _is_here("unshare")
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(line)
    return True


def _limit_memory(most_bytes: int) -> None:
    """Limit the address space of this process and of each of its children."""
    if most_bytes:
        own = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = most_bytes if own == resource.RLIM_INFINITY else min(most_bytes, own)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _refuse_sockets(families: tuple[int, ...]) -> bool:
    """Make `socket` fail with EACCES except for these families (and netlink routing sockets, if there are any).

    Unix sockets are blocked because they reach agents and daemons that act for the user. `socketpair` is allowed for
    stream sockets, which event loops need, but not for datagram sockets, which could send to a path.
    """
    known = _ARCHITECTURES.get(os.uname().machine)
    if known is None:
        return False
    architecture, socket, socketpair = known
    load, equal, at_least, mask, give = 0x20, 0x15, 0x35, 0x54, 0x06
    number, machine, first, second, third = 0, 4, 16, 24, 32
    # Each tuple: operation, value, label to jump to if true (else the next line). A string alone defines a label.
    lines: list[tuple[int, int, str] | str] = [
        (load, machine, ""), (equal, architecture, "known"), (give, _KILL, ""),
        "known", (load, number, ""),
        # Numbers from here on belong to another ABI of the same machine (x32).
        (at_least, 0x40000000, "refuse"), (equal, _IO_URING_SETUP, "refuse"),
        (equal, socket, "socket"), (equal, socketpair, "pair"), (give, _ALLOW, ""),
        "pair", (load, second, ""), (mask, _TYPE_MASK, ""),
        (equal, _STREAM, "allow"), (equal, _SEQPACKET, "allow"), (give, _REFUSE, ""),
        "socket", (load, first, ""), *((equal, family, "allow") for family in families),
        *(((equal, _NETLINK, "netlink"),) if families else ()), (give, _REFUSE, ""),
        "netlink", (load, third, ""), (equal, _NETLINK_ROUTE, "allow"),
        "refuse", (give, _REFUSE, ""),
        "allow", (give, _ALLOW, ""),
    ]  # fmt: skip
    places: dict[str, int] = {}
    for line in lines:
        if isinstance(line, str):
            places[line] = sum(not isinstance(one, str) for one in lines[: lines.index(line)])
    program = [line for line in lines if not isinstance(line, str)]
    code = ctypes.create_string_buffer(
        b"".join(
            struct.pack("=HBBI", operation, places[then] - at - 1 if then else 0, 0, value)
            for at, (operation, value, then) in enumerate(program)
        )
    )
    filter_ = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, filter_, 0, 0) != 0:
        return _is_here("seccomp")
    return True


def _wall_off_files(read: list[str], write: list[str]) -> bool:
    """Restrict file access with Landlock to these paths and everything below them."""
    version = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    handled = _ALL_OF.get(version, _ALL_OF[5])
    scoped = _SCOPED if version >= _SCOPED_FROM else 0
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    size = 8 if version < 4 else 16 if version < _SCOPED_FROM else 24
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return _is_here("landlock")
    for paths, rights in ((read, _READ), (write, handled)):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)
    return True


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # A missing path needs no rule.
        return
    try:
        if not os.path.isdir(path):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0), "landlock")
    finally:
        os.close(descriptor)


def _is_here(what: str) -> bool:
    """Return False if the last call failed because this host lacks the mechanism; otherwise raise OSError."""
    code = ctypes.get_errno()
    if code not in _NOT_HERE:
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return False


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
