"""Runs a short command that may execute a stranger's code: few variables, bounded output, a bounded end.

The walls are in the command itself, see `confinement`.
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
        code: its exit code; None where it was ended because its time was over.
        output: the last of what it wrote to either stream, at most `OUTPUT_BYTES`.
    """

    code: int | None
    output: str


def run_contained(
    argv: Sequence[str], *, cwd: Path, timeout_s: float, variables: Mapping[str, str] | None = None
) -> Ended:
    """Run a command with the variables that every pack gets and no others.

    Args:
        argv: the command, with its walls.
        cwd: its folder.
        timeout_s: its whole group is ended after this time.
        variables: more variables.

    Raises:
        OSError: it cannot be started.
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
    """The last lines of what a stranger's program wrote, each without control characters and at most 200 long."""
    lines = [printable(line) for line in output.strip().splitlines()[-QUOTED_LINES:]]
    return "\n".join(line if len(line) <= QUOTED_CHARS else f"{line[:QUOTED_CHARS]}…" for line in lines)


def _tail(process: subprocess.Popen[bytes], until_s: float) -> bytes:
    """Read until the process ends, whoever else holds its pipe open, or it is time; keep the end of it."""
    assert process.stdout is not None
    tail = b""
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while time.monotonic() < until_s:
            # Looked at before the read: what it wrote before its end is there to be read then.
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
