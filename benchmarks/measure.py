"""Runs whole commands in turn and compares them pair by pair, since a shared machine drifts.

It must not know what a command does.
"""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run: wall-clock seconds, and the peak memory of its largest process."""

    wall_s: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two commands, run in turn."""

    ours: tuple[Run, ...]
    theirs: tuple[Run, ...]

    @property
    def speedup(self) -> float:
        """How many times faster ours is: the median of the pairs' ratios."""
        return median(their.wall_s / our.wall_s for our, their in zip(self.ours, self.theirs, strict=True))


def run(command: Sequence[str], variables: dict[str, str] | None = None) -> Run:
    """Run a command to its end in a process that measures it; raises `RuntimeError` when it fails."""
    read_end, write_end = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        done = subprocess.run(command, env=os.environ | (variables or {}), capture_output=True, check=False)
        # Of all that it waited for, grandchildren included: the largest single process.
        peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        os.write(write_end, f"{done.returncode} {peak_kb} {done.stderr.decode(errors='replace')[-2000:]}".encode())
        os._exit(0)
    os.close(write_end)
    report = b""
    while part := os.read(read_end, 65536):
        report += part
    wall_s = time.perf_counter() - started
    os.waitpid(pid, 0)
    os.close(read_end)
    code, peak, stderr = report.decode().split(" ", 2)
    if code != "0":
        raise RuntimeError(f"{' '.join(command)} exited with {code}:\n{stderr}")
    return Run(wall_s, int(peak) / 1024)


def compare(ours: Sequence[str], theirs: Sequence[str], *, rounds: int, warm_up: int = 1) -> Comparison:
    """Run both in turn, ours first, `rounds` times after the warm-up."""
    for _ in range(warm_up):
        run(ours)
        run(theirs)
    pairs = [(run(ours), run(theirs)) for _ in range(rounds)]
    return Comparison(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))
