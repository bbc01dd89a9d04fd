"""Run a short command that may execute untrusted code, with few variables, limited output and a timeout.

The sandbox is part of the command, see `confinement`.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from evalsi_kernel.results.grid import printable
from evalsi_kernel.supervision.descendants import Descendants
from evalsi_kernel.supervision.spawn import PASSED_THROUGH

OUTPUT_BYTES = 16_384
QUOTED_LINES, QUOTED_CHARS = 20, 200
_LOOK_S = 0.05


class Ended(NamedTuple):
    """How a command ended.

    Args:
        code: exit code; None after a timeout.
        output: the end of the combined output, at most `OUTPUT_BYTES`.
    """

    code: int | None
    output: str


def run_contained(
    argv: Sequence[str], *, cwd: Path, timeout_s: float, variables: Mapping[str, str] | None = None
) -> Ended:
    """Run a command with only the environment variables that every pack gets, then kill its descendants.

    Args:
        argv: the command, including its sandbox.
        cwd: working folder, also used for temporary files.
        timeout_s: the process group is killed after this time.
        variables: additional variables.

    Raises:
        OSError: the command cannot be started.
    """
    passed = {name: os.environ[name] for name in PASSED_THROUGH if name in os.environ}
    descendants = Descendants()
    try:
        return _run(descendants, argv, cwd, timeout_s, passed | dict(variables or {}))
    finally:
        descendants.end()


def _run(
    descendants: Descendants, argv: Sequence[str], cwd: Path, timeout_s: float, variables: Mapping[str, str]
) -> Ended:
    process = subprocess.Popen(
        list(argv),
        cwd=cwd,
        env={"TMPDIR": str(cwd), "PYTHONHASHSEED": "0", **variables, **descendants.variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    descendants.sessions.add(process.pid)
    try:
        output = _tail(process, time.monotonic() + timeout_s)
        code = process.poll()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    return Ended(code, output.decode("utf-8", "replace"))


def quoted(output: str) -> str:
    """Return the last lines of untrusted output, without control characters and shortened to `QUOTED_CHARS` each."""
    lines = [printable(line) for line in output.strip().splitlines()[-QUOTED_LINES:]]
    return "\n".join(line if len(line) <= QUOTED_CHARS else f"{line[:QUOTED_CHARS]}…" for line in lines)


def _tail(process: subprocess.Popen[bytes], until_s: float) -> bytes:
    """Return the end of the output, read until the process ends (even if others hold the pipe open) or the deadline."""
    assert process.stdout is not None
    tail = b""
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while time.monotonic() < until_s:
            # Check before reading, so that everything written before the end is still read.
            has_ended = process.poll() is not None
            if selector.get_map():
                selector.select(0 if has_ended else _LOOK_S)
                with suppress(BlockingIOError):
                    data = os.read(process.stdout.fileno(), OUTPUT_BYTES * 4)
                    tail = (tail + data)[-OUTPUT_BYTES:]
                    if not data:
                        selector.unregister(process.stdout)
                    elif has_ended and len(data) == OUTPUT_BYTES * 4:
                        continue
            elif not has_ended:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_S)
            if has_ended:
                break
    return tail
