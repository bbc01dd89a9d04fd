"""Serve a pack to network clients, with one pack process per session, until a signal ends the service.

Processes are started and confined as in a local run. Some are started in advance to save clients the start time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.pack_process import attach
from evalsi_kernel.supervision.spawn import Spawned, spawn
from evalsi_kernel.supervision.transports import READ_BYTES
from evalsi_protocol.unix_sockets import bind_unix

from .addresses import TLS, UNIX, Address
from .served_session import LINGER_S, pass_on
from .service_file import Tls
from .service_runtime import keep_alive, reason, tls_context

HANDSHAKE_S = 10.0
WAITING = 128
"""Maximum number of connections that wait for a process, so that the service does not run out of open files."""
Note = Callable[[str], None]


class ServiceOptions(NamedTuple):
    """Settings of a service.

    Args:
        address: address to listen on.
        tls: the server's `cert` and `key`; `ca` verifies client certificates, None accepts any client.
        sessions: maximum number of concurrent sessions; further connections wait.
        warm: number of processes to start in advance.
        grace_s: how long sessions may continue after a signal to end.
        silence_s: timeout for the first byte of a connection; a process is only assigned after it.
    """

    address: Address
    tls: Tls
    sessions: int
    warm: int
    grace_s: float
    silence_s: float = 10.0


class Serving:
    """Serves one pack until a signal ends it.

    Args:
        launch: how to start the pack; its `log` receives the processes' stderr with the session number.
        options: settings of the service.
        note: called with a line for each event.
    """

    def __init__(self, launch: Launch, options: ServiceOptions, note: Note) -> None:
        self._launch = launch
        self._options = options
        self._note = note
        self._ready: list[Spawned] = []
        self._slots = asyncio.Semaphore(options.sessions)
        self._connections: set[asyncio.Task[None]] = set()
        self._sessions: set[asyncio.Task[None]] = set()
        self._ending = False
        self._count = 0
        self._tls: ssl.SSLContext | None = None

    async def run(self) -> None:
        """Listen and serve until SIGINT or SIGTERM and the end of all sessions; a second signal ends them at once.

        Raises:
            PackEnvironmentError: it cannot listen there, or the pack's program cannot be started.
        """
        ended, at_once = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def told() -> None:
            (at_once if ended.is_set() else ended).set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told)
        try:
            self._warm_up()
            async with AsyncExitStack() as stack:
                server = await self._listen(stack)
                at = self._options.address
                port = at.port or (0 if at.scheme == UNIX else server.sockets[0].getsockname()[1])
                self._note(f"{self._launch.name} is served at {at._replace(port=port)}")
                await ended.wait()
                server.close()
                await self._finish(at_once)
        finally:
            for spawned in self._ready:
                self._discard(spawned)

    async def _listen(self, stack: AsyncExitStack) -> asyncio.Server:
        address, limit = self._options.address, READ_BYTES
        try:
            if address.scheme == UNIX:
                listener = bind_unix(address.path)
                stack.callback(lambda: Path(address.path).unlink(missing_ok=True))
                return await asyncio.start_unix_server(self._connected, sock=listener, limit=limit)
            if address.scheme == TLS:
                self._tls = tls_context(self._options.tls, ssl.Purpose.CLIENT_AUTH)
            return await asyncio.start_server(self._connected, address.host, address.port, limit=limit)
        except OSError as error:
            raise PackEnvironmentError(
                f"{address} cannot be listened on: {error.strerror or error}.",
                "Choose another address, or end what listens there.",
                code="environment.socket",
            ) from error

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) > self._options.sessions + WAITING:
                raise ConnectionRefusedError(f"{WAITING} others wait already")
            if self._options.address.scheme != UNIX:
                keep_alive(writer.get_extra_info("socket"))
            if self._tls is not None:
                await writer.start_tls(self._tls, ssl_handshake_timeout=HANDSHAKE_S)
            # Assign a process only after the first byte, not to port scans or connections that hang.
            async with asyncio.timeout(self._options.silence_s):
                first = await reader.read(READ_BYTES)
            if first:
                await self._served(first, reader, writer)
        except TimeoutError:
            self._note(f"a connection was turned away: it said nothing for {self._options.silence_s:g} s")
        except (OSError, PackEnvironmentError) as error:
            self._note(f"a connection was turned away: {reason(error) if isinstance(error, OSError) else error}")
        except asyncio.CancelledError:
            pass  # The service is ending. asyncio would print a traceback for each cancelled connection.
        finally:
            writer.close()
            try:
                async with asyncio.timeout(LINGER_S):
                    await writer.wait_closed()
            except OSError:  # Includes TimeoutError: the client does not read what it was sent.
                writer.transport.abort()
            self._connections.discard(task)

    async def _served(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._count += 1
        number = self._count
        if self._slots.locked():
            self._note(f"session {number} waits: {self._options.sessions} are open")
        async with self._slots:
            if reader.at_eof() or self._ending:
                self._note(f"session {number} is over before it began")
                return
            self._sessions.add(task)
            try:
                await self._session(number, first, reader, writer)
            finally:
                self._sessions.discard(task)

    async def _session(
        self, number: int, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        began = monotonic()
        spawned = self._take()
        try:
            process = await attach(spawned, self._logging(f"session {number}"))
        except BaseException:
            spawned.kill()
            raise
        self._note(f"session {number} begins")
        try:
            self._replace_spare()
            how = await pass_on(process, first, reader, writer, self._launch.start_timeout_s)
        finally:
            process.transport.close_writing()
            await process.stop()
        tail = process.stderr_tail
        wrote = f"; it wrote:\n{tail}" if tail and how != "exited with code 0" else ""
        self._note(f"session {number} is over after {monotonic() - began:.1f} s: the pack {how}{wrote}")

    def _take(self) -> Spawned:
        """Return a process that was started in advance, or a new one."""
        while self._ready:
            spawned = self._ready.pop()
            if spawned.process.poll() is None:
                return spawned
            self._discard(spawned)  # It ended while it waited.
        return spawn(self._launch)

    def _discard(self, spawned: Spawned) -> None:
        """Kill a process that had no session, and log its stderr."""
        write, pipe = self._logging("no session"), spawned.process.stderr
        if write is not None and pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            with suppress(OSError):
                write((pipe.read(READ_BYTES) or b"").decode("utf-8", "replace").splitlines())
        spawned.kill()

    def _logging(self, session: str) -> Callable[[Sequence[str]], None] | None:
        """Return a function that appends lines to the log; None if there is no log."""
        log = self._launch.log
        return None if log is None else partial(log.write, session)

    def _warm_up(self) -> None:
        """Start processes until `warm` of them are ready."""
        while len(self._ready) < self._options.warm and not self._ending:
            self._ready.append(spawn(self._launch))

    def _replace_spare(self) -> None:
        try:
            self._warm_up()
        except (OSError, PackEnvironmentError) as error:
            # This session has its process; if the problem persists, the next one reports it.
            self._note(f"no process can be kept ready: {error}")

    async def _finish(self, at_once: asyncio.Event) -> None:
        """Cancel waiting connections; wait for sessions until `grace_s` or a second signal, then cancel them too."""
        self._ending = True
        late = self._connections - self._sessions
        for task in late:
            task.cancel()
        if self._sessions:
            count = len(self._sessions)
            sessions = "one session is" if count == 1 else f"{count} sessions are"
            self._note(f"ending, once {sessions} over, or in {self._options.grace_s:g} s")
            over = asyncio.gather(*self._sessions, return_exceptions=True)
            told = asyncio.create_task(at_once.wait())
            await asyncio.wait((over, told), timeout=self._options.grace_s, return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            for task in self._sessions:
                task.cancel()
        await asyncio.gather(*late, *self._connections, return_exceptions=True)
