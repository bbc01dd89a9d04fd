"""Confine pack processes: find out what this host can enforce, and build the command that enforces it.

Only Linux is supported; elsewhere nothing is enforced, and permissions are shown as declared only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from evalsi_kernel.packs.environment_plan import plan_environment
from evalsi_kernel.packs.pack_info import PYTHON, PackInfo
from evalsi_kernel.packs.sdk_runtime import ensure_runtime
from evalsi_kernel.supervision.launch import Command

from .permissions import HELD_RUNTIMES, Host, Permissions

PROBE_TIMEOUT_S = 20.0
_CHILD = Path(__file__).with_name("confined_start.py")
# System paths that programs need: libraries, loader configuration, time zone, random numbers, number of cores.
_SYSTEM = (
    *(
        "/usr",
        "/lib",
        "/lib64",
        "/lib32",
        "/bin",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/localtime",
        "/nix/store",
    ),
    *("/etc/ssl/openssl.cnf", "/etc/fonts", "/etc/mime.types", "/proc/self", "/proc/cpuinfo", "/proc/meminfo"),
    *("/proc/stat", "/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/dev/zero"),
)
# Paths needed to resolve host names and to verify certificates.
_INTERNET = (
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/protocols", "/etc/ssl/certs", "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/ca-certificates"),
)
_SYSTEM_WRITE = ("/dev/null",)


@cache
def this_host() -> Host:
    """Return what this host can enforce, found by trying it in a child process."""
    if sys.platform != "linux":
        return Host(network=False, files=False, memory=False)
    try:
        with tempfile.TemporaryDirectory(prefix="evalsi-probe-") as scratch:
            done = subprocess.run(
                walled((), Walls()),
                capture_output=True,
                cwd=scratch,
                timeout=PROBE_TIMEOUT_S,
                check=True,
            )
        stands = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return Host(network=False, files=False, memory=True)
    return Host(network=stands["network"], files=stands["files"], memory=True)


class Walls(NamedTuple):
    """Restrictions for a process that runs untrusted code; applied as far as this host supports them.

    Args:
        network: block all sockets; if False, only sockets other than Internet sockets are blocked.
        files: block all files except those listed here and the process's working folder.
        read: paths that may be read, in addition to system paths.
        write: paths that may be read and written, in addition to the working folder.
        home: HOME of the process: its working folder (`scratch`), the user's home without access to it (`named`), or
            with write access (`writable`).
        memory_bytes: limit on the address space of each process; 0 means no limit.
    """

    network: bool = True
    files: bool = True
    read: Sequence[str | Path] = ()
    write: Sequence[str | Path] = ()
    home: Literal["scratch", "named", "writable"] = "scratch"
    memory_bytes: int = 0


def walled(argv: Sequence[str], walls: Walls) -> list[str]:
    """Return the command that restricts its own process and then executes `argv`.

    It starts every process that may run untrusted code: in a run, as a service, when a pack is added or checked, and
    while its environment is built.
    """
    if sys.platform != "linux":
        return list(argv)
    rules = {
        "network": walls.network,
        "files": walls.files,
        "read": list(map(str, (*_SYSTEM, *(() if walls.network else _INTERNET), *walls.read))) if walls.files else [],
        "write": list(map(str, (*_SYSTEM_WRITE, *walls.write))),
        "home": walls.home,
        "memory_bytes": walls.memory_bytes,
    }
    return _argv(rules, argv)


def confined(
    command: Command, pack: PackInfo, granted: Permissions, *, home: Literal["scratch", "writable"] = "scratch"
) -> Command:
    """Return the command that starts the pack with its granted permissions, as far as this host can enforce them.

    Network and file access are restricted for the runtimes `python` and `program`. Other runtimes have a sandbox of
    their own and run in a process of an extension, so only the network is blocked.
    """
    if pack.runtime == PYTHON:
        # -B: compiled files in the pack's folder would change its recorded digest.
        command = command._replace(argv=[command.argv[0], "-B", *command.argv[1:]])
    secrets = {name: os.environ[name] for name in granted.secrets if name in os.environ}
    command = command._replace(variables={**command.variables, **secrets})
    has_own_code = pack.runtime in HELD_RUNTIMES
    needs_home = home == "scratch" and any(path.startswith("~/") for path in granted.files)
    walls = Walls(
        network=not granted.network,
        files=has_own_code,
        read=_readable(pack, granted, command.argv[0]) if has_own_code else (),
        home="named" if needs_home else home,
        memory_bytes=command.memory_limit_bytes,
    )
    return command._replace(argv=walled(command.argv, walls))


def _argv(rules: dict[str, object], argv: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", str(_CHILD), json.dumps(rules), "--", *argv]


def _readable(pack: PackInfo, granted: Permissions, program: str) -> list[str]:
    paths: list[str | Path] = [pack.folder, *installed_with(Path(program))]
    if pack.runtime == PYTHON:
        paths += [plan_environment(pack.folder, pack.name).folder, *_sdk()]
    elif program == sys.executable:
        paths.append(sys.prefix)
    return [*map(str, paths), *map(os.path.expanduser, granted.files)]


def installed_with(program: Path) -> list[Path]:
    """Return the program and the library folders of its installation (for a virtual environment, of its base)."""
    real = program.resolve()
    prefix = real.parent.parent
    return [program, real, prefix / "lib", prefix / "lib64"]


def _sdk() -> list[Path]:
    """Return the folders of the host's SDK and the targets of the links in them."""
    folders = ensure_runtime()
    return [*folders, *(entry.resolve() for folder in folders for entry in folder.iterdir() if entry.is_symlink())]
