"""The runtime `service`: a pack that runs already, on a Unix socket or a port, and is connected to.

It must not know the protocol, nor how such a pack was attached.
"""

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
"""After so long without a byte the system asks whether the other machine is there, so often, before it gives up."""


class ServiceTransport(StreamTransport):
    """A connection to a service; whatever ends it is told."""

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
    """How a pack is reached that was attached, or whose address is in EVALSI_REATTACH.

    Raises:
        PackError: `pack.manifest`; its service.toml does not fit.
        UsageError: the variable's address is none.
    """
    if pack.module != FILE:
        service = Service(read_address(pack.module))
        return Launch(pack.name, connect=connecting(service, pack.name), start_timeout_s=NO_LIMIT_S)
    return Launch(pack.name, connect=connecting(read_service(pack), pack.name))


def connecting(service: Service, name: str) -> Callable[[], Awaitable[ServiceTransport]]:
    """What connects to a service.

    Args:
        service: to which.
        name: of the pack, for error sentences.
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
    """Have the system find out that the other machine is gone, and send small frames at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", IDLE_S), ("TCP_KEEPINTVL", BETWEEN_S), ("TCP_KEEPCNT", TRIES)):
        if hasattr(socket, name):  # Not on every system.
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def tls_context(tls: Tls, purpose: ssl.Purpose) -> ssl.SSLContext:
    """What one side of a TLS connection shows and trusts.

    Args:
        tls: of this side.
        purpose: whom it checks: `SERVER_AUTH` of one that connects, `CLIENT_AUTH` of one that listens.

    Raises:
        PackEnvironmentError: `environment.certificate`; a file cannot be read, or the key is another certificate's.
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
    """Why a connection failed, as the end of a sentence."""
    named = getattr(error, "reason", None)
    return str(named).lower().replace("_", " ") if named else error.strerror or str(error) or type(error).__name__
