"""`python -m evalsi_wasm.runner`: host a WebAssembly pack and serve the protocol on standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NoReturn

from evalsi_protocol.channels import READ_BYTES
from evalsi_wasm.calls import Calls
from evalsi_wasm.component import Components
from evalsi_wasm.description import read_declared, read_description
from evalsi_wasm.faults import GuestFault
from evalsi_wasm.guest import Modules
from evalsi_wasm.module import CORE, Limits, load_module, read_code
from evalsi_wasm.pack_session import PackSession, Served

SWITCH_INTERVAL_S = 0.0005


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Serve one session, then exit the process even if a guest is still running."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    options = _parsed(arguments)
    # Standard output carries the protocol, so send everything that is printed to stderr.
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    served = serve_module(
        Path(options.module),
        options.name,
        options.version,
        Limits(options.memory_bytes, options.fuel),
        cache=Path(options.cache) if options.cache else None,
        manifest=Path(options.manifest) if options.manifest else None,
    )
    with open(wire_in, "rb", buffering=0) as incoming, open(wire_out, "wb", buffering=0) as outgoing:
        asyncio.run(_serve(served, options.instances, incoming, outgoing))
    sys.stderr.flush()
    # A normal exit would wait for the thread of a guest that never returns.
    os._exit(0)


def serve_module(
    path: Path, name: str, version: str, limits: Limits, *, cache: Path | None = None, manifest: Path | None = None
) -> Served:
    """Load a module and read its description; a fault is returned and reported in the answer to `hello`.

    Args:
        path: the `.wasm` file.
        name, version: name and version of the pack.
        limits: limits of each instance.
        cache: folder of compiled modules; None disables the cache.
        manifest: the `plugin.toml`, used for fields that the module's description leaves out.
    """
    try:
        declared = read_declared(manifest) if manifest else {}
        code = read_code(path)
        if code[4:8] == CORE:
            made: Modules | Components = Modules(load_module(path, code, limits, cache))
        else:
            made = Components(path, code, limits, cache)
        first = made.instance()
        tables = read_description(path.name, first.describe(), made.exports, declared)
    except GuestFault as fault:
        return Served(name, version, {}, frozenset(), None, fault.error._replace(code="pack.import"))
    return Served(name, version, tables, made.exports, Calls(made, first))


async def _serve(served: Served, instances: int, incoming: FileIO, outgoing: FileIO) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, outgoing)
    # With this limit `drain` waits until everything is written.
    transport.set_write_buffer_limits(high=0)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    session = PackSession(served, writer.write, ThreadPoolExecutor(instances, "evalsi-wasm"))
    reading = asyncio.create_task(_read(reader, session))
    await session.wire.is_over.wait()
    reading.cancel()
    with suppress(ConnectionError):
        await writer.drain()


async def _read(reader: asyncio.StreamReader, session: PackSession) -> None:
    data = b"x"
    while data:
        data = await reader.read(READ_BYTES)
        session.wire.receive(data)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evalsi_wasm.runner", description=__doc__)
    parser.add_argument("--module", required=True, help="the .wasm file")
    parser.add_argument("--name", default="wasm", help="of the pack")
    parser.add_argument("--version", default="0", help="of the pack")
    parser.add_argument("--manifest", default="", help="the plugin.toml, for what the module does not say of itself")
    parser.add_argument("--cache", default="", help="folder of compiled modules; none is kept without it")
    parser.add_argument("--instances", type=int, default=1, help="how many calls may run at once")
    parser.add_argument("--memory-bytes", type=int, default=512 * 1024**2, help="of one instance")
    parser.add_argument("--fuel", type=int, default=0, help="steps that a record may take; 0 counts none")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
