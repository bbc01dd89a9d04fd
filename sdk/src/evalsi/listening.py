"""Serve a pack from a process that its developer started, for example under a debugger.

The process serves one kernel after another in its main thread, where breakpoints work, until Ctrl-C. For a service with
several users, `evalsi plugins serve` starts a process for each kernel.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import closing, suppress
from urllib.parse import urlsplit

from evalsi.host import Host, Load
from evalsi_protocol.channels import SocketChannel
from evalsi_protocol.unix_sockets import bind_unix

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def listen_at(address: str, name: str, version: str, load: Load) -> None:
    """Serve session after session until Ctrl-C.

    Args:
        address: `unix:///path` or `tcp://127.0.0.1:PORT`; port 0 takes a free port.
        name: name of the pack, for `hello`.
        version: version of the pack, for `hello`.
        load: imports the pack. Modules are cached, so a change of the code needs a restart.

    Raises:
        SystemExit: the address is invalid or in use.
    """
    with closing(_bound(address)) as listener, suppress(KeyboardInterrupt):
        listener.listen()
        at = address if listener.family == socket.AF_UNIX else _with_port(address, listener.getsockname()[1])
        print(f"Listening on {at}. Score with this process, from where its plugin.toml is found:", file=sys.stderr)
        print(f"  EVALSI_REATTACH={name}={at} evalsi eval …", file=sys.stderr, flush=True)
        try:
            while True:
                connection, _ = listener.accept()
                Host(SocketChannel(connection), name, version, load).serve()
        finally:
            if listener.family == socket.AF_UNIX:
                with suppress(FileNotFoundError):
                    os.unlink(address.removeprefix("unix://"))


def _bound(address: str) -> socket.socket:
    parts = urlsplit(address)
    try:
        if address.startswith("unix:///"):
            return bind_unix(address.removeprefix("unix://"))
        if parts.scheme == "tcp" and parts.hostname in LOOPBACK and parts.port is not None:
            family = socket.AF_INET6 if ":" in parts.hostname else socket.AF_INET
            return socket.create_server((parts.hostname, parts.port), family=family)
    except (OSError, ValueError) as error:
        raise SystemExit(
            f"Cannot listen on {address}: {error}. Stop the process that uses it, or choose another address."
        ) from error
    raise SystemExit(
        f"--listen {address} is invalid. Write unix:///PATH or tcp://127.0.0.1:PORT, or use `evalsi plugins serve`."
    )


def _with_port(address: str, port: int) -> str:
    return f"{address.rpartition(':')[0]}:{port}"
