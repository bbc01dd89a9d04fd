"""One process of the pack under test: its pipes under a deadline, its scratch and home folders, its log.

It moves bytes; it must not know a frame. One thread does it all, so that a pack which does not read cannot block it.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from evalsi_conformance.walls import NetworkCounters, walled

LOG_LINES: Final = 40
READ_BYTES: Final = 1 << 16
LEAVE_S: Final = 10.0
PASSED_THROUGH: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")


class Program(NamedTuple):
    """How a pack's process is started.

    Args:
        argv: program and arguments.
        variables: environment variables beside the harmless ones that every pack gets.
        within_walls: program and arguments where the kit puts up walls of its own, in which attempts to reach the
            network are counted and have to be let through; None takes `argv`.
    """

    argv: tuple[str, ...]
    variables: Mapping[str, str] = MappingProxyType({})
    within_walls: tuple[str, ...] | None = None


class CannotStart(Exception):
    """The program cannot be started; the sentence says why."""


class PackProcess:
    """A started process.

    Args:
        program: what to start.
        behind_walls: without a network, and counted where it tries; only where `walls.can_wall`.
        writable: a folder that it may write into behind its walls, beside its scratch and its home.
        log: a file to which its stderr is appended.
    """

    def __init__(
        self,
        program: Program,
        *,
        behind_walls: bool = False,
        writable: Path | None = None,
        log: Path | None = None,
    ) -> None:
        self.behind_walls = behind_walls
        self._log_file = log
        self._folder = Path(tempfile.mkdtemp(prefix="evalsi-conformance-"))
        self.scratch, self.home = self._folder / "scratch", self._folder / "home"
        for folder in (self.scratch, self.home):
            folder.mkdir(mode=0o700)
        variables = {name: os.environ[name] for name in PASSED_THROUGH if name in os.environ}
        variables |= {"TMPDIR": str(self.scratch), "HOME": str(self.home), "PYTHONHASHSEED": "0"}
        folders = (self._folder, *([writable] if writable else []))
        argv = walled(program.within_walls or program.argv, folders) if behind_walls else list(program.argv)
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self.scratch,
                env=variables | dict(program.variables),
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise CannotStart(f"{argv[0]} cannot be started: {error.strerror or error}.") from error
        self._log: deque[bytes] = deque(maxlen=LOG_LINES)
        self._unsent = bytearray()
        self._counters: NetworkCounters | None = None
        self._selector = selectors.DefaultSelector()
        for pipe, events in (
            (self._process.stdout, selectors.EVENT_READ),
            (self._process.stderr, selectors.EVENT_READ),
        ):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, events)
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    def send(self, data: bytes) -> None:
        """Have bytes sent with the next `receive`."""
        self._unsent += data

    def receive(self, deadline_s: float) -> bytes:
        """Send what is to be sent, until some bytes come.

        Args:
            deadline_s: of `time.monotonic`.

        Returns:
            Bytes, at least one; empty when the stream is over.

        Raises:
            TimeoutError: nothing came.
        """
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        self._write()
        while (left_s := deadline_s - time.monotonic()) > 0:
            if self._unsent and stdin not in self._selector.get_map():
                self._selector.register(stdin, selectors.EVENT_WRITE)
            for key, _ in self._selector.select(left_s):
                if key.fileobj is stderr:
                    self._read_log()
                elif key.fileobj is stdin:
                    self._write()
                else:
                    data = os.read(stdout.fileno(), READ_BYTES)
                    self._look_at_network()
                    return data
        raise TimeoutError

    def close_input(self) -> None:
        """Let the pack see the end of its stream."""
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.closed:
            with suppress(KeyError):
                self._selector.unregister(stdin)
            stdin.close()

    def exit_code(self, within_s: float) -> int | None:
        """What the process ended with; None when it still runs after this time."""
        deadline_s = time.monotonic() + within_s
        while True:
            try:
                return self._process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                # A pack that fills its log must not wait for its reader.
                self._read_log()
                if time.monotonic() > deadline_s:
                    return None

    def network_attempts(self) -> int:
        """How often it tried the network up to now, or up to its end; 0 where there are no walls to count at."""
        return 0 if self._counters is None else self._counters.attempts()

    def written_at_home(self) -> list[str]:
        """The files that it left in its home folder."""
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir())

    def log_tail(self) -> str:
        """The last lines of its stderr."""
        self._read_log()
        return b"".join(self._log).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End its whole group, and take its folders away."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._read_log()
        if self._counters is not None:
            self._counters.close()
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        while self._unsent:
            try:
                written = os.write(stdin.fileno(), self._unsent[:READ_BYTES])
            except BlockingIOError:
                return
            except BrokenPipeError:
                # It is gone, which the reading side tells.
                written = len(self._unsent)
            del self._unsent[:written]
        with suppress(KeyError):
            self._selector.unregister(stdin)

    def _read_log(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        if stderr.closed:
            return
        with suppress(BlockingIOError):
            while data := os.read(stderr.fileno(), READ_BYTES):
                self._log.extend(data.splitlines(keepends=True))
                if self._log_file is not None:
                    with self._log_file.open("ab") as file:
                        file.write(data)
            with suppress(KeyError):
                self._selector.unregister(stderr)

    def _look_at_network(self) -> None:
        """Once it has said something it is behind its walls; one that is gone already has told all it could."""
        if self.behind_walls and self._counters is None:
            with suppress(OSError):
                self._counters = NetworkCounters(self._process.pid)
