"""Run the installed command in a separate process, as a user does."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli.forked import EVALSI, Forks, of_the_start

__all__ = ["BOUND_S", "EVALSI", "QA", "Done", "evalsi", "write_jsonl"]

QA = Path(__file__).parents[2] / "examples" / "quickstart" / "qa.jsonl"
BOUND_S = 60.0
FITS_A_PIPE = 4096
READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str


def evalsi(
    *words: str | Path, stdin: bytes = b"", cwd: Path | None = None, variables: Mapping[str, str] | None = None
) -> Done:
    """Run `evalsi` with these words, forked from a process that has loaded it already where that is the same."""
    environment = os.environ | (variables or {})
    forks = _forks()
    if forks and forks.started_with == of_the_start(environment) and len(stdin) <= FITS_A_PIPE:
        return _forked(forks, [*map(str, words)], stdin, str(cwd or Path.cwd()), environment)
    done = subprocess.run(
        [EVALSI, *map(str, words)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment,
        timeout=BOUND_S,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@cache
def _forks() -> Forks | None:
    if sys.platform != "linux":
        return None
    forks = Forks()
    atexit.register(forks.close)
    return forks


def _forked(forks: Forks, words: list[str], stdin: bytes, cwd: str, environment: Mapping[str, str]) -> Done:
    (their_in, our_in), (our_out, their_out), (our_err, their_err) = [os.pipe() for _ in range(3)]
    os.write(our_in, stdin)
    os.close(our_in)
    told = forks.start(words, cwd, environment, (their_in, their_out, their_err))
    for pipe in (their_in, their_out, their_err):
        os.close(pipe)
    printed = {told: b"", our_out: b"", our_err: b""}
    waits = select.poll()
    for pipe in printed:
        waits.register(pipe, select.POLLIN)
    until_s = time.monotonic() + BOUND_S
    still = set(printed)
    while still:
        ready = waits.poll(max(0.0, until_s - time.monotonic()) * 1000)
        if not ready:
            os.kill(int(printed[told].split()[0]), signal.SIGKILL)
            raise subprocess.TimeoutExpired([EVALSI, *words], BOUND_S, printed[our_out], printed[our_err])
        for pipe, _ in ready:
            more = os.read(pipe, READ_BYTES)
            printed[pipe] += more
            if not more:
                waits.unregister(pipe)
                os.close(pipe)
                still.remove(pipe)
    return Done(int(printed[told].split()[1]), printed[our_out].decode(), printed[our_err].decode())


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write rows as JSON lines; returns the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
