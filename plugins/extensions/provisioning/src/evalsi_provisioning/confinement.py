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
_SYSTEM_WRITE = ("/dev/null",)


@cache
def this_host() -> Host:
    """What this host can hold a process to, found by trying it in a process of its own."""
    if sys.platform != "linux":
        return Host(network=False, files=False, memory=False)
    try:
        with tempfile.TemporaryDirectory(prefix="evalsi-probe-") as scratch:
            done = subprocess.run(
                _argv({"network": True, "files": True, "read": list(_SYSTEM), "write": []}, ()),
                capture_output=True,
                cwd=scratch,
                timeout=PROBE_TIMEOUT_S,
                check=True,
            )
        stands = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return Host(network=False, files=False, memory=True)
    return Host(network=stands["network"], files=stands["files"], memory=True)


def confined(command: Command, pack: PackInfo, granted: Permissions) -> Command:
    """The command that starts the pack within what it was granted, as far as this host can.

    Network and files of a process that runs a stranger's Python or program are walled off; another runtime has its own
    sandbox, and its process, which is an extension's, loses its network only.
    """
    if pack.runtime == PYTHON:
        # -B: no compiled code is left beside the pack's, which would no longer be what was recorded.
        command = command._replace(argv=[command.argv[0], "-B", *command.argv[1:]])
    secrets = {name: os.environ[name] for name in granted.secrets if name in os.environ}
    command = command._replace(variables={**command.variables, **secrets})
    if sys.platform != "linux":
        return command
    has_own_code = pack.runtime in HELD_RUNTIMES
    rules = {
        "network": not granted.network,
        "files": has_own_code,
        "read": _readable(pack, granted, command.argv[0]) if has_own_code else [],
        "write": list(_SYSTEM_WRITE),
        "home": any(path.startswith("~/") for path in granted.files),
    }
    return command._replace(argv=_argv(rules, command.argv))


def confined_check(argv: Sequence[str]) -> list[str]:
    """A command that may run a stranger's code, without the network and without a file to write but in its folder."""
    if sys.platform != "linux":
        return list(argv)
    return _argv({"network": True, "files": True, "read": ["/"], "write": list(_SYSTEM_WRITE), "home": False}, argv)


def _argv(rules: dict[str, object], argv: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", str(_CHILD), json.dumps(rules), "--", *argv]


def _readable(pack: PackInfo, granted: Permissions, program: str) -> list[str]:
    paths = [pack.folder, *_SYSTEM, *_installed(Path(program))]
    if pack.runtime == PYTHON:
        paths += [plan_environment(pack.folder, pack.name).folder, *_sdk()]
    elif program == sys.executable:
        paths.append(sys.prefix)
    return [*map(str, paths), *map(os.path.expanduser, granted.files)]


def _installed(program: Path) -> list[Path]:
    """What a program was installed with; of a Python's environment what it was made from."""
    real = program.resolve()
    prefix = real.parent.parent
    return [program, real, prefix / "lib", prefix / "lib64"]


def _sdk() -> list[Path]:
    """The folders of the host's SDK, and what is linked into them."""
    folders = ensure_runtime()
    return [*folders, *(entry.resolve() for folder in folders for entry in folder.iterdir() if entry.is_symlink())]
