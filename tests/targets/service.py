"""A service on this machine that answers over HTTP in every way that one may, by its paths."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from aiohttp import web

BOUND_S = 60.0
MIB = 2**20


class Service:
    """What is served, and what was seen of it."""

    def __init__(self) -> None:
        self.url = ""
        self.response: Any = None
        self.seen: list[dict[str, Any]] = []
        self.endless_bytes = 0
        self.endless_ended = threading.Event()

    async def echo(self, http: web.Request) -> web.Response:
        """What was sent, and how."""
        return web.json_response(
            {
                "reply": f"{(await http.text())}!",
                "headers": dict(http.headers),
                "path": http.raw_path,
                "method": http.method,
                "usage": {"prompt_tokens": 7, "completion_tokens": 3, "cost_usd": 0.25},
                "steps": [{"type": "tool", "name": "search"}],
                "choices": [{"text": "first"}],
                "nothing": None,
            }
        )

    async def body(self, http: web.Request) -> web.Response:
        """The body that was sent, as it came."""
        kind = http.query.get("type", "application/json")
        return web.Response(body=await http.read(), headers={"Content-Type": kind})

    async def status(self, http: web.Request) -> web.Response:
        """A status, with the headers that the query names."""
        told = f"no: {http.headers.get('Authorization', '')}"
        return web.Response(status=int(http.match_info["code"]), text=told, headers=dict(http.query))

    async def page(self, _: web.Request) -> web.Response:
        """An HTML page, as a proxy sends it."""
        return web.Response(text="<html><h1>Please sign in</h1></html>", content_type="text/html")

    async def big(self, http: web.Request) -> web.Response:
        """So many MiB of text."""
        return web.json_response({"reply": "x" * (int(http.match_info["mib"]) * MIB)})

    async def endless(self, http: web.Request) -> web.StreamResponse:
        """A body that does not end before the client leaves."""
        response = web.StreamResponse()
        await response.prepare(http)
        try:
            while True:
                await response.write(b"x" * MIB)
                self.endless_bytes += MIB
        finally:
            self.endless_ended.set()

    async def bomb(self, _: web.Request) -> web.Response:
        """A few kilobytes that unpack to 64 MiB."""
        packed = gzip.compress(bytes(64 * MIB), 1)
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"}, content_type="text/plain")

    async def responses(self, http: web.Request) -> web.Response:
        """What a test has put there; what was sent is noted."""
        self.seen.append({"authorization": http.headers.get("Authorization"), "body": await http.json()})
        response = self.response(self.seen[-1]["body"]) if callable(self.response) else self.response
        if isinstance(response, str):
            return web.Response(text=response, content_type="text/event-stream")
        return web.json_response(response)

    async def stream(self, http: web.Request) -> web.Response:
        """The text that a test has put there, as what the query says."""
        return web.Response(text=self.response, content_type=http.query["type"])

    async def hang(self, _: web.Request) -> web.Response:
        """Nothing."""
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self, http: web.Request) -> web.Response:
        """A connection that is closed."""
        assert http.transport is not None
        http.transport.close()
        return web.Response()

    async def half(self, http: web.Request) -> web.StreamResponse:
        """A connection that is closed in the middle of the body."""
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(http)
        await response.write(b"half")
        assert http.transport is not None
        http.transport.close()
        return response

    def app(self) -> web.Application:
        """Which path leads where."""
        app = web.Application(client_max_size=64 * MIB)
        for path, handler in (
            ("/echo", self.echo),
            ("/echo/{rest:.*}", self.echo),
            ("/body", self.body),
            ("/status/{code}", self.status),
            ("/page", self.page),
            ("/big/{mib}", self.big),
            ("/endless", self.endless),
            ("/bomb", self.bomb),
            ("/hang", self.hang),
            ("/stream", self.stream),
            ("/v1/responses", self.responses),
            ("/under/status/{code}/responses", self.status),
            ("/under/page/responses", self.page),
            ("/close", self.close),
            ("/half", self.half),
        ):
            app.router.add_route("*", path, handler)
        return app


@contextmanager
def serving() -> Iterator[Service]:
    """The service, in a thread of its own, until the block is left."""
    service = Service()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(service, started)), name="service")
    thread.start()
    loop, stop = started.result(BOUND_S)
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(BOUND_S)
        assert not thread.is_alive()


async def _serve(service: Service, started: Future[Any]) -> None:
    runner = web.AppRunner(service.app(), handler_cancellation=True, shutdown_timeout=0.01, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    stop = asyncio.Event()
    started.set_result((asyncio.get_running_loop(), stop))
    await stop.wait()
    await runner.cleanup()
