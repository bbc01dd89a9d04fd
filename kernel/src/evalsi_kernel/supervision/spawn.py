"""Start the operating-system process of a pack: process group, scratch folder, environment variables and limits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import NamedTuple

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.supervision.descendants import Descendants
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.progress import Progress, make_progress
from evalsi_kernel.supervision.scratch import Scratch, make_scratch
from evalsi_protocol.progress import DESCRIPTOR_VARIABLE

PIPE_BYTES = 1 << 20
PASSED_THROUGH = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")


class Spawned(NamedTuple):
    """A started process without a session."""

    process: subprocess.Popen[bytes]
    scratch: Scratch
    descendants: Descendants
    progress: Progress | None = None

    def kill(self) -> None:
        """Kill the process and its descendants at once, and remove its scratch folder."""
        self.descendants.look()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        self.release()

    def release(self) -> None:
        """Release everything that the process leaves behind: processes, scratch folder and shared memory."""
        self.descendants.end()
        if self.progress is not None:
            self.progress.close()
        self.scratch.remove()


def spawn(launch: Launch) -> Spawned:
    """Start the process of a launch. Needs no event loop, so that it can start while the kernel still loads.

    Raises:
        PackEnvironmentError: the program cannot be started.
    """
    command = launch.command
    assert command is not None
    scratch = make_scratch()
    progress = make_progress()
    # A user's own evaluators are not sandboxed, so their children can clear the marker variable.
    descendants = Descendants(is_looked_at=command.whole_environment)
    try:
        process = subprocess.Popen(
            list(command.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=command.cwd or scratch.folder,
            env=_variables(launch, scratch.folder, progress) | descendants.variables,
            pass_fds=() if progress is None else (progress.descriptor,),
            start_new_session=True,
        )
    except BaseException as error:
        descendants.end()
        scratch.remove()
        if progress is not None:
            progress.close()
        if not isinstance(error, OSError):
            raise
        raise PackEnvironmentError(
            f"The pack {launch.name} cannot be started: {error}.",
            f"Run `evalsi doctor {launch.name}`.",
            code="environment.broken",
        ) from error
    _widen_pipes(process)
    _limit(process.pid, command.memory_limit_bytes)
    descendants.sessions.add(process.pid)
    return Spawned(process, scratch, descendants, progress)


def _variables(launch: Launch, scratch: str, progress: Progress | None) -> dict[str, str]:
    command = launch.command
    assert command is not None
    if command.whole_environment:
        variables = dict(os.environ)
    else:
        variables = {name: os.environ[name] for name in PASSED_THROUGH if name in os.environ}
        variables["TMPDIR"] = scratch
    variables |= {"PYTHONHASHSEED": "0"} | dict(command.variables)
    # This process may itself be a child of a kernel, whose descriptor is not inherited.
    variables.pop(DESCRIPTOR_VARIABLE, None)
    if progress is not None:
        variables[DESCRIPTOR_VARIABLE] = str(progress.descriptor)
    return variables


def _widen_pipes(process: subprocess.Popen[bytes]) -> None:
    """Enlarge the pipes to hold a window of frames, so that neither side blocks (Linux only)."""
    if sys.platform != "linux":
        return
    import fcntl  # Not on every system.

    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        # The total per user is limited; pipes beyond it stay small, which only costs speed.
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _limit(pid: int, memory_limit_bytes: int) -> None:
    """Set resource limits from outside, whatever language the pack is written in (Linux only)."""
    if sys.platform != "linux":
        return
    import resource  # Not on every system.

    with suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if memory_limit_bytes:
            # The hard limit of this process may be lower, and cannot be exceeded.
            own = resource.getrlimit(resource.RLIMIT_AS)[1]
            limit = memory_limit_bytes if own == resource.RLIM_INFINITY else min(memory_limit_bytes, own)
            resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
