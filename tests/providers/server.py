"""The server as a test holds it: started on a free port in a thread of its own, stopped when the context is left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Set
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestHandler

from tests.providers.answers import Answering, by_schema
from tests.providers.batching import Batching
from tests.providers.certificates import Certificate
from tests.providers.embeddings_api import Embedding, by_words
from tests.providers.exchange import Conduct
from tests.providers.faults import Plan
from tests.providers.limits import Limits
from tests.providers.requests import Request
from tests.providers.rules import EMBEDDER, KEY, MODEL, Rules
from tests.providers.service import Service
from tests.providers.sightings import Sightings

BOUND_S = 60.0
BACKLOG = 1024
MOST_BYTES = 256 * 1024 * 1024


class Provider:
    """A vendor of models on this machine.

    Args:
        answer: What it says to a request.
        embed: What vector it gives for a text.
        faults: What it does wrong, call by call of a model.
        batch_faults: The same for requests of files and batches, which are counted by themselves. An error comes in
            place of the work; a connection that breaks does so when the work is done.
        batching: How its batches go.
        keys: The keys it takes; None takes any, and none at all.
        models: The models it has; None has any.
        formats: The formats of an answer that it can give.
        refused_parameters: Fields of a body that it answers with 400.
        latency_s: How long every answer takes.
        max_in_flight: How many calls it answers at once; 429 above.
        per_second: How many calls it takes in a second; 429 above.
        tells_retry_after: Whether such a 429 says when to come back.
        tls: Whether it speaks TLS, with a certificate that no client trusts.
        keep: Whether it keeps the requests; the counts are always kept.
    """

    def __init__(
        self,
        answer: Answering = by_schema,
        *,
        embed: Embedding = by_words,
        faults: Plan = (),
        batch_faults: Plan = (),
        batching: Batching = Batching(),  # noqa: B008 - a plain tuple
        keys: Set[str] | None = frozenset({KEY}),
        models: Set[str] | None = frozenset({MODEL, EMBEDDER}),
        formats: Set[str] = Rules().formats,
        refused_parameters: Set[str] = frozenset(),
        latency_s: float = 0.0,
        max_in_flight: int | None = None,
        per_second: int | None = None,
        tells_retry_after: bool = True,
        tls: bool = False,
        keep: bool = True,
    ) -> None:
        rules = Rules(keys, models, formats, refused_parameters)
        limits = Limits(max_in_flight, per_second, tells_retry_after)
        self.conduct = Conduct(answer, embed, faults, batch_faults, rules, limits, batching, latency_s)
        self.seen = Sightings(keep=keep)
        self._certificate = Certificate() if tls else None
        self._port = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service: Service | None = None
        self._stop: asyncio.Event | None = None

    @property
    def _scheme(self) -> str:
        return "https" if self._certificate else "http"

    @property
    def authority_pem(self) -> bytes:
        """The authority that a client must trust to speak TLS with it."""
        assert self._certificate, "the server speaks no TLS"
        return self._certificate.authority_pem

    @property
    def root_url(self) -> str:
        """Its address without a path, which is the base URL of Anthropic's clients."""
        return f"{self._scheme}://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The base URL of OpenAI-compatible clients, which ends in /v1."""
        return f"{self.root_url}/v1"

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order in which they came."""
        return self.seen.requests

    @property
    def rows(self) -> list[Request]:
        """Every row of every batch so far, each as a request with its custom id."""
        return self.seen.rows

    @property
    def calls(self) -> int:
        """How many calls of a model came, those that were refused among them."""
        return self.seen.calls

    @property
    def most_in_flight(self) -> int:
        """The most calls that were being answered at one time."""
        return self.seen.most_in_flight

    def wait(self, reached: Callable[[Sightings], bool], timeout_s: float = BOUND_S) -> None:
        """Block until what it saw is as asked, as in `provider.wait(lambda seen: seen.calls == 3)`."""
        self.seen.wait(reached, timeout_s)

    def release(self) -> None:
        """Let all held calls be answered, and those that follow."""
        if self._loop is not None and self._service is not None:
            self._loop.call_soon_threadsafe(self._service.released.set)

    def stop(self) -> None:
        """End it, whatever it is doing."""
        if self._loop is not None and self._stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)

    def __enter__(self) -> Self:
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="provider", daemon=True)
        self._thread.start()
        started.result(BOUND_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join(BOUND_S)
            assert not self._thread.is_alive(), "the server did not stop"
        if error is None and self.seen.failures:
            raise self.seen.failures[0]

    def _run(self, started: Future[None]) -> None:
        try:
            asyncio.run(self.serve(0, lambda: started.set_result(None)))
        except BaseException as failure:
            if started.done():
                raise
            started.set_exception(failure)

    async def serve(self, port: int, started: Callable[[], object]) -> None:
        """Serve on this port (0: a free one) until the context is left."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._service = Service(self.conduct, self.seen, self._scheme)
        server = web.Server(self._service.handle, request_factory=_request, handler_cancellation=True, access_log=None)
        tls = self._certificate.context if self._certificate else None
        listening = await self._loop.create_server(server, "127.0.0.1", port, ssl=tls, backlog=BACKLOG)
        self._port = listening.sockets[0].getsockname()[1]
        try:
            started()
            await self._stop.wait()
        finally:
            listening.close()
            await server.shutdown(0.01)
            await listening.wait_closed()


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    """A request whose body may be as large as a batch."""
    return web.BaseRequest(
        message, payload, protocol, writer, task, asyncio.get_running_loop(), client_max_size=MOST_BYTES
    )
