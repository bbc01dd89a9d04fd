"""Which walls this host can put around a pack's process, and the command that puts them up before it becomes the pack.

Linux only; elsewhere nothing is enforced, and it is said so. It must not know evalsi.lock.
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
# What a program needs of the system: libraries and how to find them, the time zone, random numbers, how many cores.
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
# What finding a host and trusting its certificate needs.
_INTERNET = (
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/protocols", "/etc/ssl/certs", "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/ca-certificates"),
)
_SYSTEM_WRITE = ("/dev/null",)


@cache
def this_host() -> Host:
    """What this host can hold a process to, found by trying it in a process of its own."""
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
    """What is put around a process that runs a stranger's code, as far as this host can.

    Args:
        network: refuse every socket; else those that are no Internet socket, such as that of an agent or an engine.
        files: refuse all files but those named here and the process's own folder.
        read: paths that may be read, beside what a program needs of the system.
        write: paths that may be read and written, beside the process's own folder.
        home: the home folder that the process sees: its own folder (`scratch`), the one that HOME names and no right to
            it (`named`), or the same and the right to write there (`writable`).
        memory_bytes: the most address space of each process; 0 sets no limit.
    """

    network: bool = True
    files: bool = True
    read: Sequence[str | Path] = ()
    write: Sequence[str | Path] = ()
    home: Literal["scratch", "named", "writable"] = "scratch"
    memory_bytes: int = 0


def walled(argv: Sequence[str], walls: Walls) -> list[str]:
    """The command that puts up walls around its own process and then becomes `argv`.

    Every process that may run a stranger's code is started by it: in a run, as a service, when a pack is added or
    checked, and while its environment is built.
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
    """The command that starts the pack within what it was granted, as far as this host can.

    Network and files of a process that runs a stranger's Python or program are walled off; another runtime has its own
    sandbox, and its process, which is an extension's, loses its network only.
    """
    if pack.runtime == PYTHON:
        # -B: no compiled code is left beside the pack's, which would no longer be what was recorded.
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
    """What a program was installed with; of a Python's environment what it was made from."""
    real = program.resolve()
    prefix = real.parent.parent
    return [program, real, prefix / "lib", prefix / "lib64"]


def _sdk() -> list[Path]:
    """The folders of the host's SDK, and what is linked into them."""
    folders = ensure_runtime()
    return [*folders, *(entry.resolve() for folder in folders for entry in folder.iterdir() if entry.is_symlink())]
