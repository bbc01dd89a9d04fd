"""Packs that run as services: as `evalsi plugins serve` starts them, and as a developer's debugger does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.running import BOUND_S, EVALSI, Done, evalsi, write_jsonl

RECORDS = [{"id": "a", "output": "x"}, {"id": "b", "output": "xx"}, {"id": "c"}]
FULL = "acme/style/polite"


class Service:
    """A process that serves.

    Args:
        argv: its command.
        ready: what it says once it listens, before its address.
        variables: beside this process's.
    """

    def __init__(self, argv: Sequence[str], ready: str, variables: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=os.environ | dict(variables))
        self.lines: list[str] = []
        self._told = threading.Condition()
        self._is_over = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = self.wait_for(ready).partition(ready)[2].strip().split()[0].rstrip(".")

    def wait_for(self, text: str) -> str:
        """The first line that has this text, as soon as it is told."""

        def found() -> str | None:
            return next((line for line in self.lines if text in line), None)

        with self._told:
            self._told.wait_for(lambda: found() or self._is_over, BOUND_S)
            line = found()
        assert line is not None, "".join(self.lines)
        return line

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal; the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(BOUND_S)
        self._reader.join(BOUND_S)
        return code

    def close(self) -> None:
        """End it, whatever state it is in."""
        self.process.kill()
        self.process.wait()
        self._reader.join(BOUND_S)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._told:
                self.lines.append(line)
                self._told.notify_all()
        with self._told:
            self._is_over = True
            self._told.notify_all()


@contextmanager
def serving(pack: Path | str, address: str, *flags: str | Path) -> Iterator[Service]:
    """`evalsi plugins serve`."""
    argv = [EVALSI, "plugins", "serve", str(pack), "--listen", address, *map(str, flags)]
    service = Service(argv, "is served at ", {})
    try:
        yield service
    finally:
        service.close()


@contextmanager
def debugging(pack: Path, name: str, address: str) -> Iterator[Service]:
    """`python -m evalsi.serving --listen`, as a debugger starts it."""
    argv = [sys.executable, "-m", "evalsi.serving", "--module", name.replace("/", "_"), "--name", name]
    service = Service([*argv, "--listen", address], "Listening on ", {"PYTHONPATH": str(pack / "src")})
    try:
        yield service
    finally:
        service.close()


def scored(
    project: Path, *flags: str, records: Sequence[Mapping[str, Any]] = RECORDS, **variables: str
) -> tuple[Done, list[dict[str, Any]]]:
    """What `evalsi eval` with the pack's evaluator prints, and its results."""
    write_jsonl(project / "data.jsonl", records)
    words = ("eval", "--data", "data.jsonl", "--evaluators", FULL, "--output", "results.json")
    done = evalsi(*words, *flags, cwd=project, variables=variables)
    path = project / "results.json"
    results: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["results"] if path.is_file() else []
    return done, results


def outcomes(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """The outcome of each."""
    return [str(one["outcome"]) for one in results]
