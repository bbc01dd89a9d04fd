"""A pack's running process on the event loop: its pipes, the end of its stderr, and a shutdown in bounded time."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from evalsi_kernel.supervision.spawn import Spawned
from evalsi_kernel.supervision.transports import READ_BYTES, StreamTransport

TAIL_LINES = 20
TAIL_CHARS = 3000
LINE_CHARS = 400
LEAVE_S = 1.0


class PackProcess:
    """A running pack process. Use `attach`."""

    def __init__(
        self,
        spawned: Spawned,
        transport: StreamTransport,
        stderr: asyncio.StreamReader,
        pipes: Sequence[asyncio.BaseTransport],
        on_lines: Callable[[Sequence[str]], None] | None,
    ) -> None:
        self._on_lines = on_lines
        self._pipes = pipes
        self._process = spawned.process
        self._spawned = spawned
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._stderr = asyncio.create_task(self._keep_tail(stderr))
        self._gone = _exit_code(spawned)
        self._gone.add_done_callback(self._let_go)
        self.transport = transport

    @property
    def pid(self) -> int:
        """The process ID, which is also the ID of its process group."""
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The last lines that the pack wrote to stderr, long ones truncated."""
        lines: list[str] = []
        room = TAIL_CHARS
        for line in reversed(self._tail):
            lines.append(line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…")
            room -= len(lines[-1])
            if room < 0:
                break
        return "\n".join(reversed(lines))

    def scoring(self) -> dict[str, Any] | None:
        """Return the request, index and session that the pack reports to be scoring, without asking it."""
        progress = self._spawned.progress
        return None if progress is None else progress.read()

    def resident_bytes(self) -> int:
        """Return the memory in use; 0 where the system does not report it."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    async def end_of_life(self) -> str:
        """Wait until a process whose stream has ended is gone and its stderr is read; return how it ended."""
        await asyncio.wait({self._gone}, timeout=LEAVE_S)
        if not self._gone.done():
            self.kill()
            await asyncio.shield(self._gone)
            return "closed its stream without exiting and was killed"
        # A grandchild may hold stderr open forever.
        await asyncio.wait({self._stderr}, timeout=LEAVE_S)
        code = self._gone.result()
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}"

    def kill(self) -> None:
        """Kill the whole process group at once."""
        self._signal(signal.SIGKILL)

    async def stop(self) -> None:
        """End the process: wait, then SIGTERM, then SIGKILL, a second each; then clean up."""
        self._spawned.descendants.look()
        try:
            for step in (None, signal.SIGTERM, signal.SIGKILL):
                if step is not None:
                    self._signal(step)
                await asyncio.wait({self._gone}, timeout=LEAVE_S)
                if self._gone.done():
                    break
        finally:
            # Kill whatever the pack started.
            self._signal(signal.SIGKILL)
            self._stderr.cancel()
            for pipe in self._pipes:
                pipe.close()
            self._spawned.release()

    def _let_go(self, _: asyncio.Future[int]) -> None:
        """Close the pipes once the process is gone, because a child of it may hold them open forever."""
        self._signal(signal.SIGKILL)
        loop = asyncio.get_running_loop()
        for pipe in self._pipes:
            # Leave time to read what the process wrote before its end.
            loop.call_later(LEAVE_S, pipe.close)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def _keep_tail(self, stream: asyncio.StreamReader) -> None:
        rest = b""
        while data := await stream.read(65536):
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-65536:]
            self._keep(lines)
        if rest:
            self._keep([rest])

    def _keep(self, lines: Sequence[bytes]) -> None:
        texts = [line.decode("utf-8", "replace") for line in lines]
        self._tail.extend(texts)
        if self._on_lines is not None:
            self._on_lines(texts)


def _exit_code(spawned: Spawned) -> asyncio.Future[int]:
    """Return a future of the exit code."""
    loop = asyncio.get_running_loop()
    gone: asyncio.Future[int] = loop.create_future()

    def settle(code: int) -> None:
        if not gone.done():
            gone.set_result(code)

    def wait() -> None:
        code = spawned.process.wait()
        with suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(settle, code)

    # A thread of its own, because many processes would use up the loop's executor; a daemon does not delay the exit.
    threading.Thread(target=wait, name="evalsi-wait", daemon=True).start()
    return gone


async def attach(spawned: Spawned, on_lines: Callable[[Sequence[str]], None] | None = None) -> PackProcess:
    """Take over the pipes of a started process; `on_lines` receives what it writes to stderr."""
    process = spawned.process
    stdout, stdout_pipe = await _reader(process.stdout)
    stderr, stderr_pipe = await _reader(process.stderr)
    loop = asyncio.get_running_loop()
    stdin_pipe, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
    writer = asyncio.StreamWriter(stdin_pipe, protocol, stdout, loop)
    return PackProcess(
        spawned, StreamTransport(stdout, writer), stderr, (stdin_pipe, stdout_pipe, stderr_pipe), on_lines
    )


async def _reader(pipe: IO[bytes] | None) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    reader = asyncio.StreamReader(limit=READ_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport
