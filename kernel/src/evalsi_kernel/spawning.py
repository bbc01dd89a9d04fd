"""Starts the operating-system process of a pack: its group, its scratch folder, its variables, its limits.

It needs no event loop, so that a pack can start up while the kernel is still loading. It must not know the protocol.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.launch import Launch

PASSED_THROUGH = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Spawned:
    """A started process that nobody talks to yet."""

    process: subprocess.Popen[bytes]
    scratch: str

    def kill(self) -> None:
        """End its whole group at once, and take its scratch folder away."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def spawn(launch: Launch) -> Spawned:
    """Start the process of a launch.

    Raises:
        PackEnvironmentError: the program cannot be started.
    """
    command = launch.command
    assert command is not None
    scratch = tempfile.mkdtemp(prefix="evalsi-pack-")
    try:
        process = subprocess.Popen(
            list(command.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=command.cwd or scratch,
            env=_variables(launch, scratch),
            start_new_session=True,
        )
    except OSError as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise PackEnvironmentError(
            f"The pack {launch.name} cannot be started: {error}.",
            f"Run `evalsi doctor {launch.name}`.",
            code="environment.broken",
        ) from error
    _limit(process.pid, command.memory_limit_bytes)
    return Spawned(process, scratch)


def _variables(launch: Launch, scratch: str) -> dict[str, str]:
    command = launch.command
    assert command is not None
    if command.whole_environment:
        variables = dict(os.environ)
    else:
        variables = {name: os.environ[name] for name in PASSED_THROUGH if name in os.environ}
        variables["TMPDIR"] = scratch
    return variables | {"PYTHONHASHSEED": "0"} | dict(command.variables)


def _limit(pid: int, memory_limit_bytes: int) -> None:
    """Set limits from outside, so that they hold whatever the pack is written in (Linux; elsewhere none)."""
    if sys.platform != "linux":
        return
    import resource  # Not on every system.

    with suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if memory_limit_bytes:
            resource.prlimit(pid, resource.RLIMIT_AS, (memory_limit_bytes, memory_limit_bytes))
