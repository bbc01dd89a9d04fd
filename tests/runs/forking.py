"""A process that has the whole command loaded, and forks one of it for each run: a kill then costs no start.

`python -m tests.runs.forking` reads a line of JSON for each run: its folder and words. It answers with two lines: the
process id once it is started, and the exit code once it is over, below zero for a signal. The id stays that run's until
the next line comes: whoever kills it hits nobody else, and a run that is over already is no error.
"""

from __future__ import annotations

import gc
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# What a run with a model as its target loads.
import evalsi_connectors.openai_compatible
import evalsi_kernel.results.results_file
import evalsi_kernel.scores.samples
import evalsi_runs.run_command
import evalsi_targets.model
from evalsi_cli.main import main

LOADED = (evalsi_connectors, evalsi_kernel, evalsi_runs, evalsi_targets)
OUTPUT = "output.txt"
BOUND_S = 60.0


class Forked:
    """A run that goes on in a process of its own.

    Args:
        server: the process that forks.
        folder: in which it runs.
        words: of `evalsi`.
    """

    def __init__(self, server: subprocess.Popen[str], folder: Path, words: Sequence[str]) -> None:
        self._server = server
        assert server.stdin is not None
        server.stdin.write(json.dumps([str(folder), *words]) + "\n")
        server.stdin.flush()
        self.pid = int(self._line(BOUND_S))

    def code_within(self, seconds: float) -> int | None:
        """The exit code, once it is over; None where it goes on for longer than that."""
        line = self._line(seconds)
        return int(line) if line else None

    def _line(self, seconds: float) -> str:
        assert self._server.stdout is not None
        ready, _, _ = select.select([self._server.stdout], [], [], seconds)
        return self._server.stdout.readline() if ready else ""


@contextmanager
def forking() -> Iterator[subprocess.Popen[str]]:
    """The process that forks, until the context is left."""
    command = [sys.executable, "-m", "tests.runs.forking"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=Path(__file__).parents[2]
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def serve() -> None:
    """Fork for every line that comes."""
    gc.freeze()
    over = None
    while line := sys.stdin.readline():
        if over is not None:
            os.waitpid(over, 0)
        folder, *words = json.loads(line)
        child = os.fork()
        if not child:
            _become(folder, words)
        print(child, flush=True)
        print(_code_of(child), flush=True)
        over = child


def _code_of(child: int) -> int:
    """How the process ended; its id is kept from being given to another."""
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _become(folder: str, words: Sequence[str]) -> None:
    """Run the command here, and end."""
    os.chdir(folder)
    output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, descriptor)
    code = 70
    try:
        code = main(words)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
