"""Log file of a run or a service with what packs write to stderr: prints, logging and tracebacks."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from evalsi_kernel.errors import EvalsiError
from evalsi_kernel.files.paths import cache_dir

MAX_BYTES = 32 * 1024**2
KEPT = 20
"""Number of evaluation logs kept in the cache."""


class PackLog:
    """The log of one run or one service; the file is created with the first line.

    Args:
        path: path of the file; lines are appended to an existing one.
        echo: also receives each line, as with `--verbose`.
        rotates: rename a full file to PATH.1 and start a new one, so that the newest lines are kept; otherwise the
            first lines are kept.
    """

    def __init__(self, path: Path, echo: Callable[[str], None] | None = None, *, rotates: bool = False) -> None:
        self.path = path
        self._echo = echo
        self._rotates = rotates
        self._file: IO[bytes] | None = None
        self._is_full = False

    @property
    def is_written(self) -> bool:
        """Whether a pack wrote anything."""
        return self._file is not None

    def write(self, pack: str, lines: Sequence[str]) -> None:
        """Append lines of a pack, each prefixed with its name; errors of the disk are ignored."""
        prefixed = [f"{pack}: {line}" for line in lines]
        if self._echo is not None:
            for line in prefixed:
                self._echo(line)
        if self._is_full or not prefixed:
            return
        try:
            if self._file is None:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # Output of evaluators may contain data: readable by this user only.
                descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                self._file = open(descriptor, "ab", buffering=0)  # noqa: SIM115 -- open as long as the run.
            self._file.write("".join(f"{line}\n" for line in prefixed).encode("utf-8", "backslashreplace"))
            if self._file.tell() > MAX_BYTES and self._rotates:
                self._file.close()
                self._file = None
                self.path.replace(f"{self.path}.1")
            elif self._file.tell() > MAX_BYTES:
                self._file.write(b"evalsi: the log is full; further lines are dropped\n")
                self._is_full = True
        except OSError:
            self._is_full = True

    def named_in(self, hint: str) -> str:
        """Return a hint with the log's path added, where there is a log."""
        return f"{hint} The pack's output is in {self.path}.".strip() if self.is_written else hint

    def close(self) -> None:
        """Close the file; `is_written` stays as it is."""
        if self._file is not None:
            self._file.close()


def log_of_evaluation(echo: Callable[[str], None] | None = None) -> PackLog:
    """Return the log of an evaluation without a run folder: a file in the cache, which keeps the last few."""
    try:
        folder = cache_dir() / "logs"
    except EvalsiError:
        folder = Path(tempfile.gettempdir()) / f"evalsi-logs-{os.getuid()}"
    with suppress(OSError):
        logs = sorted(folder.glob("eval-*.log"))
        for old in logs[: max(0, len(logs) - KEPT + 1)]:
            old.unlink(missing_ok=True)
    return PackLog(folder / f"eval-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log", echo)
