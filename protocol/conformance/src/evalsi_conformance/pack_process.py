"""One process of the pack under test: its pipes with deadlines, its scratch and home folders, its log.

Single-threaded and non-blocking, so that a pack which does not read cannot block the kit.
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
    """The command and settings of a pack's process.

    Args:
        argv: program and arguments.
        variables: environment variables in addition to the default ones of every pack.
        within_walls: program and arguments inside the kit's sandbox, which counts network attempts and so must not be
            nested in another one; None takes `argv`.
    """

    argv: tuple[str, ...]
    variables: Mapping[str, str] = MappingProxyType({})
    within_walls: tuple[str, ...] | None = None


class CannotStart(Exception):
    """The program cannot be started. The message gives the reason."""


class PackProcess:
    """A started process.

    Args:
        program: the program to start.
        behind_walls: whether to sandbox it, without network and counting attempts. Requires `walls.can_wall`.
        writable: folder that it may write to in the sandbox, in addition to scratch and home.
        log: file to which its stderr is appended.
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
        """Queue bytes to send with the next `receive`."""
        self._unsent += data

    def receive(self, deadline_s: float) -> bytes:
        """Send the queued bytes, and wait for received bytes.

        Args:
            deadline_s: deadline on the `time.monotonic` clock.

        Returns:
            At least one byte; empty at the end of the stream.

        Raises:
            TimeoutError: nothing arrived before the deadline.
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
        """Close the pack's standard input."""
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.closed:
            with suppress(KeyError):
                self._selector.unregister(stdin)
            stdin.close()

    def exit_code(self, within_s: float) -> int | None:
        """Return the exit code; None if the process still runs after the timeout."""
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
        """Return the number of network attempts so far; 0 without a sandbox that counts them."""
        return 0 if self._counters is None else self._counters.attempts()

    def written_at_home(self) -> list[str]:
        """Return the files in the home folder of the process."""
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir())

    def log_tail(self) -> str:
        """Return the last lines of stderr."""
        self._read_log()
        return b"".join(self._log).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """Kill the process group and delete its folders."""
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
