"""Runs whole commands in turn and compares them pair by pair, since a shared machine drifts.

It must not know what a command does.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

MAX_STDERR_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run.

    Args:
        wall_s: from its start to its end.
        peak_mb: memory of its largest process.
        cpu_s: of all its processes, user and system.
        stdout: what it printed.
    """

    wall_s: float
    peak_mb: float
    cpu_s: float
    stdout: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two commands, run in turn."""

    ours: tuple[Run, ...]
    theirs: tuple[Run, ...]

    @property
    def speedup(self) -> float:
        """How many times faster ours is: the median of the pairs' ratios."""
        return median(their.wall_s / our.wall_s for our, their in zip(self.ours, self.theirs, strict=True))


def run(command: Sequence[str], variables: Mapping[str, str] | None = None, cwd: Path | None = None) -> Run:
    """Run a command to its end in a process that measures it; raises `RuntimeError` when it fails."""
    read_end, write_end = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        with os.fdopen(write_end, "w") as report:
            json.dump(_measured(command, os.environ | dict(variables or {}), cwd), report)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as report:
        told = report.read()
    wall_s = time.perf_counter() - started
    os.waitpid(pid, 0)
    found = json.loads(told)
    if found["code"] != 0:
        raise RuntimeError(f"{' '.join(command)} exited with {found['code']}:\n{found['stderr']}")
    return Run(wall_s, found["peak_mb"], found["cpu_s"], found["stdout"])


def _measured(command: Sequence[str], variables: Mapping[str, str], cwd: Path | None) -> dict[str, object]:
    done = subprocess.run(command, env=variables, cwd=cwd, capture_output=True, check=False)
    # Of all that it waited for, grandchildren included: CPU of all together, memory of the largest single process.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "code": done.returncode,
        "peak_mb": usage.ru_maxrss / 1024,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "stdout": done.stdout.decode(errors="replace"),
        "stderr": done.stderr.decode(errors="replace")[-MAX_STDERR_CHARS:],
    }


def compare(
    ours: Sequence[str],
    theirs: Sequence[str],
    *,
    rounds: int,
    warm_up: int = 1,
    variables: Mapping[str, str] | None = None,
) -> Comparison:
    """Run both in turn, ours first, `rounds` times after the warm-up."""
    for _ in range(warm_up):
        run(ours, variables)
        run(theirs, variables)
    pairs = [(run(ours, variables), run(theirs, variables)) for _ in range(rounds)]
    return Comparison(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))
