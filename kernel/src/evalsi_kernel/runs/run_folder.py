"""Where runs lie: `.evalsi/runs/NAME-N`, counted up by making the folder, one process at a time in each.

It must not know what is written into a run.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from itertools import count
from pathlib import Path

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files.atomic_file import as_output_error

RUNS = Path(".evalsi") / "runs"
_ID = re.compile(r"(.+)-([1-9]\d*)")
_GLANCES, _GLANCE_S = 200, 0.005


class RunFolder:
    """One run's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @property
    def id(self) -> str:
        """The run's id, such as `capitals-3`."""
        return self.path.name

    @property
    def name(self) -> str:
        """The run's name, such as `capitals`."""
        return self.id.rpartition("-")[0]

    @property
    def number(self) -> int:
        """Its number among the runs of the same name, from 1."""
        return int(self.id.rpartition("-")[2])

    @property
    def events(self) -> Path:
        """The log."""
        return self.path / "events"

    @property
    def results(self) -> Path:
        """The results, once there are any."""
        return self.path / "results.json"

    @property
    def process_id(self) -> int | None:
        """The process that works on the run now, 0 where it has not said which it is; None where none does."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            return int(text) if text.isdecimal() else 0
        finally:
            os.close(descriptor)
        return None

    def lock(self) -> None:
        """Keep other processes out until this one ends or unlocks; raises `ConfigError` where one is in."""
        with as_output_error(self.path, "Run where you may write."):
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                self._take(descriptor)
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            except BaseException:
                os.close(descriptor)
                raise
        self._lock = descriptor

    def _take(self, descriptor: int) -> None:
        for _ in range(_GLANCES):
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                who = self.process_id
            if who is not None:
                break
            time.sleep(_GLANCE_S)  # Somebody only looks whether the run is worked on.
        raise ConfigError(
            f"The run {self.id} is being worked on{f' by process {who}' if who else ''}.",
            "Wait for it, or begin another beside it with --fresh.",
            code="run.locked",
        )

    def unlock(self) -> None:
        """Let others in."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def all_runs(runs: Path) -> list[RunFolder]:
    """Every run there, by name and number."""
    try:
        found = [RunFolder(path) for path in runs.iterdir() if _ID.fullmatch(path.name) and path.is_dir()]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda run: (run.name, run.number))


def latest_run(runs: Path, name: str) -> RunFolder | None:
    """The run of this name with the greatest number."""
    return max((run for run in all_runs(runs) if run.name == name), key=lambda run: run.number, default=None)


def new_run(runs: Path, name: str) -> RunFolder:
    """Make the folder of a new run; raises `OutputError`."""
    with as_output_error(runs, "Run where you may write, or name a folder with --runs."):
        runs.mkdir(parents=True, exist_ok=True)
        ignore = runs.parent / ".gitignore"
        if runs.parent.name == RUNS.parent.name and not ignore.exists():
            ignore.write_text("*\n")
        last = latest_run(runs, name)
        for number in count(1 if last is None else last.number + 1):
            try:
                # It holds data and answers, so it is for this user alone, whatever the umask.
                (runs / f"{name}-{number}").mkdir(mode=0o700)
            except FileExistsError:
                continue  # Another process was quicker.
            return RunFolder(runs / f"{name}-{number}")
    raise AssertionError
