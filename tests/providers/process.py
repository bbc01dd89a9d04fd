"""Starts the server as a process of its own, for benchmarks and for clients in another process, and ends it again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
BOUND_S: Final = 60.0


class Running(NamedTuple):
    """A server that runs."""

    base_url: str
    pid: int


@contextmanager
def running(*flags: str, module: str = "tests.providers") -> Iterator[Running]:
    """The server with these flags of `python -m tests.providers`, until the context is left.

    Args:
        flags: as the command takes them.
        module: another one that takes the same flags; its server may answer otherwise.

    Raises:
        RuntimeError: It did not start.
    """
    command = [sys.executable, "-m", module, *flags]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline().strip()
            if not line:
                raise RuntimeError(f"the server did not start; exit code {process.wait(BOUND_S)}")
            yield Running(line, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(BOUND_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
