"""The runtime `service`: connect to a pack that is already running, over a Unix socket, TCP or TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.reattach import NO_LIMIT_S
from evalsi_kernel.supervision.launch import Launch
from evalsi_kernel.supervision.transports import READ_BYTES, StreamTransport

from .addresses import TLS, UNIX, Address, read_address
from .service_file import FILE, Service, Tls, read_service

CONNECT_S = 20.0
IDLE_S, BETWEEN_S, TRIES = 30, 10, 3
"""TCP keepalive: seconds without data before the first probe, seconds between probes, and number of probes."""


class ServiceTransport(StreamTransport):
    """A connection to a service, with an error message for how it ended."""

    ending = "closed the connection before its first word, as one does that asks for a certificate (--cert) or is full"

    async def read(self) -> bytes:
        try:
            data = await self._reader.read(READ_BYTES)
        except OSError as error:
            self.ending = f"ended the connection ({reason(error)}); its own log may say why"
            return b""
        if data:
            self.ending = "closed the connection; its own log may say why"
        return data

    async def drain(self) -> None:
        try:
            await super().drain()
        except OSError as error:
            raise ConnectionResetError(str(error)) from error


def service_launch(pack: PackInfo) -> Launch:
    """Return how to connect to a pack that was attached or whose address is in EVALSI_REATTACH.

    Raises:
        PackError: `pack.manifest`; its service.toml is invalid.
        UsageError: the address in the variable is invalid.
    """
    if pack.module != FILE:
        service = Service(read_address(pack.module))
        return Launch(pack.name, connect=connecting(service, pack.name), start_timeout_s=NO_LIMIT_S)
    return Launch(pack.name, connect=connecting(read_service(pack), pack.name))


def connecting(service: Service, name: str) -> Callable[[], Awaitable[ServiceTransport]]:
    """Return a function that connects to a service.

    Args:
        service: the service.
        name: name of the pack, for error messages.
    """

    async def connect() -> ServiceTransport:
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await _open(service)
        except TimeoutError as error:
            raise _unreached(service.address, name, f"no answer within {CONNECT_S:g} s") from error
        except ssl.SSLCertVerificationError as error:
            raise PackEnvironmentError(
                f"The service {service.address} of the pack {name} does not show a certificate to trust: "
                f"{error.verify_message}.",
                "Attach it with --ca FILE of who signed it, and --server-name where it is made out for another name.",
                code="environment.certificate",
            ) from error
        except OSError as error:
            raise _unreached(service.address, name, reason(error)) from error
        return ServiceTransport(reader, writer)

    return connect


async def _open(service: Service) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = service.address
    if address.scheme == UNIX:
        return await asyncio.open_unix_connection(address.path, limit=READ_BYTES)
    context = tls_context(service.tls, ssl.Purpose.SERVER_AUTH) if address.scheme == TLS else None
    server_name = (service.tls.server_name or address.host) if context else None
    reader, writer = await asyncio.open_connection(
        address.host, address.port, limit=READ_BYTES, ssl=context, server_hostname=server_name
    )
    keep_alive(writer.get_extra_info("socket"))
    return reader, writer


def keep_alive(connection: socket.socket) -> None:
    """Enable TCP keepalive, to detect a lost peer, and TCP_NODELAY, to send small frames without delay."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", IDLE_S), ("TCP_KEEPINTVL", BETWEEN_S), ("TCP_KEEPCNT", TRIES)):
        if hasattr(socket, name):  # Not on every system.
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def tls_context(tls: Tls, purpose: ssl.Purpose) -> ssl.SSLContext:
    """Return the TLS context for one side of a connection.

    Args:
        tls: settings of this side.
        purpose: `SERVER_AUTH` for the side that connects, `CLIENT_AUTH` for the side that listens.

    Raises:
        PackEnvironmentError: `environment.certificate`; a file cannot be read, or the key does not match.
    """
    try:
        context = ssl.create_default_context(purpose, cafile=tls.ca)
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(str(path) for path in (tls.ca, tls.cert, tls.key) if path is not None)
        raise PackEnvironmentError(
            f"A certificate or key cannot be read ({files}): {reason(error)}.",
            "Name files in PEM, and the key that belongs to the certificate.",
            code="environment.certificate",
        ) from error
    if purpose is ssl.Purpose.CLIENT_AUTH and tls.ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _unreached(address: Address, name: str, why: str) -> PackEnvironmentError:
    return PackEnvironmentError(
        f"Nobody answers at {address} for the pack {name}: {why}.",
        "Start the service (evalsi plugins serve), or attach the pack where it is.",
        code="environment.socket",
    )


def reason(error: OSError) -> str:
    """Return why a connection failed, as the end of a sentence."""
    named = getattr(error, "reason", None)
    return str(named).lower().replace("_", " ") if named else error.strerror or str(error) or type(error).__name__
