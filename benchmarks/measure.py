"""Runs whole commands in turn and compares them pair by pair, since a shared machine drifts.

It must not know what a command does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

MEASURED = Path(__file__).with_name("measured.py")


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
    # Without site: nothing of this environment is loaded, and the measuring process stays small.
    measured = [sys.executable, "-I", "-S", str(MEASURED), *command]
    done = subprocess.run(
        measured, env=os.environ | dict(variables or {}), cwd=cwd, capture_output=True, check=False, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} could not be measured:\n{done.stderr}")
    found = json.loads(done.stdout)
    if found["code"] != 0:
        raise RuntimeError(f"{' '.join(command)} exited with {found['code']}:\n{found['stderr']}")
    return Run(found["wall_s"], found["peak_mb"], found["cpu_s"], found["stdout"])


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
