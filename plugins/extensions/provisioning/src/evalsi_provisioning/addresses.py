"""Addresses of services: a Unix socket, TCP on the loopback interface, or TLS on any host."""

from __future__ import annotations

import ipaddress
import json
import os
from typing import NamedTuple
from urllib.parse import urlsplit

from evalsi_kernel.errors import UsageError

UNIX, TCP, TLS = "unix", "tcp", "tls"
SCHEMES = (UNIX, TCP, TLS)
FORMS = "unix:///PATH, tcp://127.0.0.1:PORT or tls://HOST:PORT"
MAX_SOCKET_PATH = 107
"""Maximum length in bytes on Linux; on macOS it is 104 bytes."""


class Address(NamedTuple):
    """An address of a service.

    Args:
        scheme: "unix", "tcp" or "tls".
        path: absolute path of a Unix socket.
        host: host name or IP address, without brackets.
        port: 1 to 65,535; 0 lets the system choose a port to listen on.
    """

    scheme: str
    path: str = ""
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix://{self.path}" if self.scheme == UNIX else f"{self.scheme}://{host}:{self.port}"


def is_address(text: str) -> bool:
    """Whether the text has the scheme of a service address; the rest may be invalid."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def read_address(text: str) -> Address:
    """Parse the address of a service.

    Raises:
        UsageError: the address is invalid, or refers to another machine without TLS.
    """
    if text.startswith("unix:///"):
        path = text.removeprefix("unix://")
        if len(os.fsencode(path)) > MAX_SOCKET_PATH:
            message = f"{text} is longer than a socket's path may be ({MAX_SOCKET_PATH} bytes)."
            raise UsageError(message, "Name one in a shorter folder.")
        if not path.isprintable():
            raise _none(text)
        return Address(UNIX, path=path)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _none(text) from None
    if (
        parts.scheme not in (TCP, TLS)
        or not host
        or port is None
        or parts.path
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
    ):
        raise _none(text)
    address = Address(parts.scheme, host=host, port=port)
    if parts.scheme == TCP and not is_loopback(host):
        message = f"{address} leaves this machine, and what goes there could be read and changed on the way."
        raise UsageError(message, f"Use TLS: tls://{text.partition('://')[2]}")
    return address


def _none(text: str) -> UsageError:
    return UsageError(f"{json.dumps(text)} is no address of a service.", f"Write {FORMS}.")


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address or `localhost`; other names are not resolved."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
