"""A pack's operating-system process: start, limits, stderr tail, and an end that is always bounded.

It must not know the protocol; it hands out a transport.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from evalsi_kernel.transports import StreamTransport

TAIL_LINES = 20
LEAVE_S = 1.0
PASSED_THROUGH = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Command:
    """How to start a pack.

    Args:
        argv: program and arguments.
        cwd: where it runs; None gives it its private scratch folder.
        whole_environment: pass the caller's variables on (a user's own file), not only the harmless ones (a pack).
        memory_limit_bytes: address space it may use; 0 means no limit.
    """

    argv: Sequence[str]
    cwd: Path | None = None
    whole_environment: bool = False
    memory_limit_bytes: int = 0
    variables: Mapping[str, str] = field(default_factory=dict)


class PackProcess:
    """A running pack."""

    def __init__(self, process: asyncio.subprocess.Process, scratch: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._scratch = scratch
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._stderr = asyncio.create_task(self._keep_tail())
        self.transport = StreamTransport(process.stdout, process.stdin)

    @property
    def pid(self) -> int:
        """The process's id, which is its process group's too."""
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The last lines that the pack wrote to stderr."""
        return "\n".join(self._tail)

    def resident_bytes(self) -> int:
        """Memory in use; 0 where the system does not tell."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    async def end_of_life(self) -> str:
        """Wait until the process is gone and its stderr read; a phrase that says how it ended."""
        code = await self._process.wait()
        with suppress(asyncio.TimeoutError):
            # A grandchild may hold stderr open for ever.
            await asyncio.wait_for(asyncio.shield(self._stderr), LEAVE_S)
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}"

    def kill(self) -> None:
        """End the whole process group at once."""
        self._signal(signal.SIGKILL)

    async def stop(self) -> None:
        """End it in steps: it may leave by itself, then SIGTERM, then SIGKILL, a second each; clean up."""
        try:
            for step in (None, signal.SIGTERM, signal.SIGKILL):
                if step is not None:
                    self._signal(step)
                try:
                    await asyncio.wait_for(self._process.wait(), LEAVE_S)
                    break
                except TimeoutError:
                    continue
        finally:
            self._signal(signal.SIGKILL)
            self._stderr.cancel()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def _keep_tail(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        rest = b""
        while data := await stream.read(65536):
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-65536:]
            self._tail.extend(line.decode("utf-8", "replace") for line in lines)
        if rest:
            self._tail.append(rest.decode("utf-8", "replace"))


async def start_process(command: Command) -> PackProcess:
    """Start a pack in a process group and a scratch folder of its own.

    Raises:
        OSError: the program cannot be started.
    """
    scratch = tempfile.mkdtemp(prefix="evalsi-pack-")
    try:
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=command.cwd or scratch,
            env=_variables(command, scratch),
            start_new_session=True,
        )
    except OSError:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    _limit(process.pid, command.memory_limit_bytes)
    return PackProcess(process, scratch)


def _variables(command: Command, scratch: str) -> dict[str, str]:
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
