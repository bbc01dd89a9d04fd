"""A pack as a long-running service: a process of it for each connection, and bytes passed on both ways.

Each process is started, limited and walled in as one of a run here; one more is kept ready, so that nobody waits for
its start. It must not know a frame.
"""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.launch import Launch
from evalsi_kernel.pack_process import PackProcess, attach
from evalsi_kernel.spawning import Spawned, spawn
from evalsi_kernel.transports import READ_BYTES
from evalsi_protocol.unix_sockets import bind_unix

from .addresses import TLS, UNIX, Address
from .service_file import Tls
from .service_runtime import keep_alive, reason

HANDSHAKE_S = 10.0
Note = Callable[[str], None]


class ServiceOptions(NamedTuple):
    """How to serve.

    Args:
        address: where to listen.
        tls: `cert` and `key` of this side; `ca` of who signs those of clients, None lets in whoever connects.
        sessions: at most so many processes at once; a connection beyond waits for one to end.
        warm: processes that are started before anybody connects.
        grace_s: how long sessions may go on once the service is told to end.
    """

    address: Address
    tls: Tls
    sessions: int
    warm: int
    grace_s: float


class Serving:
    """Serves one pack until it is told to end.

    Args:
        launch: of the pack.
        options: how.
        note: is told what happens, a line each.
    """

    def __init__(self, launch: Launch, options: ServiceOptions, note: Note) -> None:
        self._launch = launch
        self._options = options
        self._note = note
        self._ready: list[Spawned] = []
        self._slots = asyncio.Semaphore(options.sessions)
        self._sessions: set[asyncio.Task[None]] = set()
        self._count = 0
        self._tls: ssl.SSLContext | None = None

    async def run(self) -> None:
        """Listen; returns after SIGINT or SIGTERM, once all sessions are over.

        Raises:
            PackEnvironmentError: it cannot listen there, or the pack's program cannot be started.
        """
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        try:
            self._warm_up()
            async with AsyncExitStack() as stack:
                server = await self._listen(stack)
                at = self._options.address
                port = at.port or (0 if at.scheme == UNIX else server.sockets[0].getsockname()[1])
                self._note(f"{self._launch.name} is served at {at._replace(port=port)}")
                await ended.wait()
                server.close()
                await self._finish()
        finally:
            for spawned in self._ready:
                spawned.kill()

    async def _listen(self, stack: AsyncExitStack) -> asyncio.Server:
        address, limit = self._options.address, READ_BYTES
        try:
            if address.scheme == UNIX:
                listener = bind_unix(address.path)
                stack.callback(lambda: Path(address.path).unlink(missing_ok=True))
                return await asyncio.start_unix_server(self._connected, sock=listener, limit=limit)
            if address.scheme == TLS:
                self._tls = _context(self._options.tls)
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
        self._sessions.add(task)
        try:
            if self._options.address.scheme != UNIX:
                keep_alive(writer.get_extra_info("socket"))
            if self._tls is not None:
                await writer.start_tls(self._tls, ssl_handshake_timeout=HANDSHAKE_S)
            self._count += 1
            number = self._count
            if self._slots.locked():
                self._note(f"session {number} waits: {self._options.sessions} are open")
            async with self._slots:
                await self._session(number, reader, writer)
        except OSError as error:
            self._note(f"a connection was turned away: {reason(error)}")
        finally:
            self._sessions.discard(task)
            writer.close()

    async def _session(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = monotonic()
        try:
            process = await attach(self._ready.pop() if self._ready else spawn(self._launch))
        except PackEnvironmentError as error:
            self._note(f"session {number} cannot begin: {error}")
            return
        self._note(f"session {number} begins")
        pumps = [
            asyncio.create_task(_to_pack(reader, process)),
            asyncio.create_task(_from_pack(process, writer)),
        ]
        try:
            self._warm_up()
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            how = await process.end_of_life()
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            process.transport.close_writing()
            await process.stop()
        tail = process.stderr_tail
        wrote = f"; it wrote:\n{tail}" if tail and how != "exited with code 0" else ""
        self._note(f"session {number} is over after {monotonic() - began:.1f} s: the pack {how}{wrote}")

    def _warm_up(self) -> None:
        """Have as many processes ready as there should be."""
        while len(self._ready) < self._options.warm:
            self._ready.append(spawn(self._launch))

    async def _finish(self) -> None:
        if self._sessions:
            count = len(self._sessions)
            sessions = "one session is" if count == 1 else f"{count} sessions are"
            self._note(f"ending, once {sessions} over, or in {self._options.grace_s:g} s")
            _, late = await asyncio.wait(self._sessions, timeout=self._options.grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def _to_pack(reader: asyncio.StreamReader, process: PackProcess) -> None:
    with suppress(OSError):  # Either side may be gone, which is how a session ends.
        while data := await reader.read(READ_BYTES):
            process.transport.write(data)
            await process.transport.drain()
    process.transport.close_writing()


async def _from_pack(process: PackProcess, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await process.transport.read():
            writer.write(data)
            await writer.drain()


def _context(tls: Tls) -> ssl.SSLContext:
    assert tls.cert is not None
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=tls.ca)
        context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ssl.SSLError) as error:
        raise PackEnvironmentError(
            f"Certificate or key cannot be read ({tls.cert}, {tls.key or tls.cert}): {error.strerror or error}.",
            "Name files in PEM, and the key that belongs to the certificate.",
            code="environment.certificate",
        ) from error
    if tls.ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context
