"""A server whose replies are larger than any reply may be, and a program that asks it and reports its own memory.

`python -m tests.connectors.large_replies PORT` prints, as JSON, the error code of each call and the peak memory.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from evalsi_kernel.broker.connector import BatchConnector, ProviderError
from evalsi_kernel.target import TargetInput
from tests.connectors.calling import ANTHROPIC, OPENAI, asked, made, settings
from tests.targets.asking import opened

MIB: Final = 2**20
TIMEOUT_S: Final = 30.0
SHORT_S: Final = 0.5
GZIP_HEAD: Final = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
TOO_LARGE: Final = ("bomb", "deflate", "plain", "announced", "endless", "members", "events")
"""Kinds of replies that end by their size."""
BATCH: Final = {"id": "b", "status": "completed", "output_file_id": "f", "processing_status": "ended"}


def _block(byte: bytes) -> bytes:
    """One mebibyte as compressed data that can be repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(byte * MIB) + packer.flush(zlib.Z_FULL_FLUSH)


def _pieces(kind: str) -> Iterator[bytes]:
    if kind in ("bomb", "deflate"):
        yield GZIP_HEAD if kind == "bomb" else b""
        yield _block(b" ") * 1024
    elif kind == "lines":
        yield GZIP_HEAD
        yield _block(b"\n") * 1024
    elif kind in ("plain", "announced"):
        yield from [b" " * MIB] * 200
    elif kind == "members":
        empty = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16).flush()
        yield from [empty * 50_000] * 40
    elif kind == "drip":
        while not threading.Event().wait(0.02):
            yield b" "
    else:
        piece = b"data: {}\n\n" if kind == "events" else b" "
        while True:
            yield piece * (MIB // len(piece))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        kind = self.path.split("/")[1]
        if self.path.endswith("/batches/b"):
            results = f"http://{self.headers['Host']}/{kind}/results"
            body = json.dumps({**BATCH, "results_url": results}).encode()
            self._head(("Content-Type", "application/json"), ("Content-Length", str(len(body))))
            self.wfile.write(body)
            return
        encoding = {"bomb": "gzip", "deflate": "deflate", "lines": "gzip", "members": "gzip"}.get(kind)
        size = ("Content-Length", str(200 * MIB)) if kind == "announced" else ("Connection", "close")
        coded = [("Content-Encoding", encoding)] if encoding else []
        self._head(("Content-Type", "text/event-stream" if kind == "events" else "application/json"), size, *coded)
        self.close_connection = True
        with suppress(OSError):
            for piece in _pieces(kind):
                self.wfile.write(piece)

    def _head(self, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    do_GET = do_POST = _answer

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


@contextmanager
def serving() -> Iterator[int]:
    """Serve; yields the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


async def _code(port: int, provider: str, kind: str, timeout_s: float = TIMEOUT_S) -> str:
    path = "" if provider == ANTHROPIC else "/v1"
    wanted = settings(f"http://127.0.0.1:{port}/{kind}{path}", provider, timeout_s=timeout_s)
    connector = made(wanted._replace(options={"stream": True} if kind == "events" else {}))
    try:
        await connector.complete(asked())
    except ProviderError as error:
        return error.error.code
    finally:
        await connector.close()
    return "read"


async def _embedding(port: int) -> str:
    connector = made(settings(f"http://127.0.0.1:{port}/bomb/v1", OPENAI, timeout_s=TIMEOUT_S, kind="embed"))
    try:
        await connector.embed(["text"])
    except ProviderError as error:
        return error.error.code
    finally:
        await connector.close()
    return "read"


async def _results(port: int, provider: str, kind: str) -> str:
    """The code of what becomes of the one ask of a batch whose file of results is of a kind."""
    path = "" if provider == ANTHROPIC else "/v1"
    connector = made(settings(f"http://127.0.0.1:{port}/{kind}{path}", provider, timeout_s=TIMEOUT_S))
    assert isinstance(connector, BatchConnector)
    try:
        async for _, found in connector.results("b", {"one": asked()}):
            assert isinstance(found, ProviderError)
            return found.error.code
    except ProviderError as error:
        return error.error.code
    finally:
        await connector.close()
    return "read"


async def _target(port: int, connector: str, kind: str, **options: Any) -> str:
    key = "url" if connector == "http" else "base_url"
    keys = {"model": "m", "api_key_env": "none"} if connector == "openai-compatible" else {}
    options = {key: f"http://127.0.0.1:{port}/{kind}/v1", "timeout_s": TIMEOUT_S, **keys, **options}
    async with opened(connector, Path(), **options) as target:
        try:
            await target.generate(TargetInput({"id": "1", "input": "Hi"}, 1))
        except ProviderError as error:
            return error.error.code
    return "read"


async def _all(port: int) -> dict[str, str]:
    codes: dict[str, str] = {}
    for provider in (OPENAI, ANTHROPIC):
        for kind in TOO_LARGE:
            codes[f"{provider} {kind}"] = await _code(port, provider, kind)
        codes[f"{provider} drip"] = await _code(port, provider, "drip", SHORT_S)
        for kind in ("bomb", "lines", "endless"):
            codes[f"{provider} results {kind}"] = await _results(port, provider, kind)
    codes["embedding bomb"] = await _embedding(port)
    for kind in ("bomb", "plain", "endless"):
        codes[f"target http {kind}"] = await _target(port, "http", kind)
        codes[f"target responses {kind}"] = await _target(port, "openai-compatible", kind, api="responses")
        codes[f"target model {kind}"] = await _target(port, "openai-compatible", kind)
    return codes


def main(arguments: Sequence[str]) -> None:
    """Ask for each kind and print what came of it."""
    codes = asyncio.run(_all(int(arguments[0])))
    print(json.dumps({"codes": codes, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    main(sys.argv[1:])
