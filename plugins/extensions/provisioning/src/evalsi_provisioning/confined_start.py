"""Runs in the child: puts walls around this process by what Linux has, then becomes the pack's program.

Started as `python -I -S confined_start.py RULES -- PROGRAM ARGUMENTS…`, it knows the standard library only. A wall that
this host does not have is passed over; one that it has and that cannot be put up ends the process.
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
"""Of a machine: its number for seccomp, and the numbers of its system calls `socket` and `socketpair`."""
_INET, _INET6, _NETLINK, _NETLINK_ROUTE = 2, 10, 16, 0
_STREAM, _SEQPACKET, _TYPE_MASK = 1, 5, 0xF
_IO_URING_SETUP = 425
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EACCES, 0x80000000

# Landlock: the three system calls have one number on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read a file, list a folder."""
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""What can be allowed of a file that is no folder: execute, write, read, truncate, control a device."""
_ALL_OF = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPED_FROM, _SCOPED = 6, 1 << 0 | 1 << 1
"""No abstract socket and no signal leads out of the walls."""
_NOT_HERE = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSPC})

_libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> int:
    """Put up the walls that RULES asks for; then run the program, or with none print which walls stand."""
    rules, command = json.loads(arguments[0]), arguments[2:]
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    stands = {"network": False, "files": False}
    _limit_memory(rules.get("memory_bytes", 0))
    if rules["network"]:
        # The first also keeps it from sockets that are paths, and needs no right; the second is for other machines.
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
        # The home folder is behind the wall; what a library wants to keep goes to the scratch folder.
        os.environ["HOME"] = os.getcwd()
    os.execv(command[0], command)


def _leave_network() -> bool:
    """Go to a network of one's own, which has no device that is up."""
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return _is_here("unshare")
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(line)
    return True


def _limit_memory(most_bytes: int) -> None:
    """Limit the address space of this process and of each that it starts."""
    if most_bytes:
        own = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = most_bytes if own == resource.RLIM_INFINITY else min(most_bytes, own)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _refuse_sockets(families: tuple[int, ...]) -> bool:
    """Have `socket` fail with EACCES save for these families, and for the routing table where there is any.

    A socket of a Unix path leads to agents and engines that act for the user. A pair of streams leads nowhere and is
    left, as event loops need one; a pair of datagram sockets could send to a path.
    """
    known = _ARCHITECTURES.get(os.uname().machine)
    if known is None:
        return False
    architecture, socket, socketpair = known
    load, equal, at_least, mask, give = 0x20, 0x15, 0x35, 0x54, 0x06
    number, machine, first, second, third = 0, 4, 16, 24, 32
    # Each line: operation, value, where to go on if it is so (else the next line); a word alone names a place.
    lines: list[tuple[int, int, str] | str] = [
        (load, machine, ""), (equal, architecture, "known"), (give, _KILL, ""),
        "known", (load, number, ""),
        # Numbers from here on are those of another calling convention of the same machine.
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
    """Leave these paths, and what is below them, to be read or written, and no others."""
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
        # What is not there needs no rule.
        return
    try:
        if not os.path.isdir(path):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0), "landlock")
    finally:
        os.close(descriptor)


def _is_here(what: str) -> bool:
    """False where the last call failed because this host has no such thing; else the process ends."""
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
