"""A program that runs in a group of its own: its output as it comes, the tail of its stderr, an end that is bounded.

It must not know what it says.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

LEAVE_S = 1.0
TAIL_BYTES = 8_192


class Program(NamedTuple):
    """What is started.

    Args:
        argv: the program and its arguments; no shell reads them.
        folder: that it starts in.
        variables: all that it gets.
    """

    argv: Sequence[str]
    folder: str
    variables: Mapping[str, str]


class ChildProcess(asyncio.SubprocessProtocol):
    """A running program. Use `started`.

    Args:
        on_output: gets what it writes to stdout, as it comes.
        is_echoed: what it writes to stderr goes to this process's too.

    Attributes:
        exited: done once it has ended.
        gone: done once what it wrote is read too; the exit code.
    """

    def __init__(self, on_output: Callable[[bytes], None], *, is_echoed: bool) -> None:
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.gone: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._on_output = on_output
        self._is_echoed = is_echoed
        self._tail = b""
        self._transport: asyncio.SubprocessTransport
        self._closing: asyncio.TimerHandle | None = None

    @property
    def stderr_tail(self) -> str:
        """The last that it wrote to stderr."""
        return self._tail.decode("utf-8", "replace")

    @property
    def pid(self) -> int:
        """Of the process, and of its group."""
        return self._transport.get_pid()

    def write(self, data: bytes) -> None:
        """Write to its stdin; what is written to one that reads no more is lost."""
        pipe = self._transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        if not pipe.is_closing():
            pipe.write(data)

    def unread_bytes(self) -> int:
        """How much of what was written it has not begun to read; 0 where the system does not say."""
        pipe = self._transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        try:
            told = fcntl.ioctl(pipe.get_extra_info("pipe"), termios.FIONREAD, bytes(4))
        except (OSError, ValueError):
            return 0
        return int(struct.unpack("i", told)[0]) + pipe.get_write_buffer_size()

    def end_input(self) -> None:
        """Close its stdin once all is written."""
        pipe = self._transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        if not pipe.is_closing():
            pipe.write_eof()

    def kill(self) -> None:
        """End it and its whole group at once."""
        self._signal(signal.SIGKILL)

    async def stop(self, *, is_busy: bool) -> None:
        """End it in steps: it may leave by itself unless it is busy, then SIGTERM, then SIGKILL, a second each."""
        self.end_input()
        for step in (signal.SIGTERM, signal.SIGKILL) if is_busy else (None, signal.SIGTERM, signal.SIGKILL):
            if step is not None:
                self._signal(step)
            if (await asyncio.wait({self.exited}, timeout=LEAVE_S))[0]:
                break
        # Nobody reads what is left, and someone else may hold its pipes open for ever.
        self._transport.close()
        await asyncio.wait({self.gone}, timeout=LEAVE_S)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what it wrote."""
        if fd == 1:
            self._on_output(data)
            return
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        if self._is_echoed:
            with suppress(OSError, ValueError):
                sys.stderr.write(data.decode("utf-8", "replace"))
                sys.stderr.flush()

    def process_exited(self) -> None:
        """Once it is gone what it started goes too, and its pipes end, though someone may hold them open for ever."""
        self.exited.set_result(None)
        self._signal(signal.SIGKILL)
        self._closing = asyncio.get_running_loop().call_later(LEAVE_S, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """All is read."""
        if self._closing is not None:
            self._closing.cancel()
        self._transport.close()
        if not self.gone.done():
            self.gone.set_result(self._transport.get_returncode() or 0)

    def _signal(self, number: int) -> None:
        if self.gone.done():
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


async def started(program: Program, on_output: Callable[[bytes], None], *, is_echoed: bool) -> ChildProcess:
    """Start a program; raises `OSError` where it cannot be."""
    _, child = await asyncio.get_running_loop().subprocess_exec(
        lambda: ChildProcess(on_output, is_echoed=is_echoed),
        *program.argv,
        cwd=program.folder,
        env=dict(program.variables),
        start_new_session=True,
    )
    return child


def ending(code: int) -> str:
    """How a process ended, as a phrase."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
