"""HTTP client of the connectors: connections, the bounds of a reply, and the mapping of faults to errors.

It is httpx2's API on aiohttp's connections, since httpx2's own pool costs many times the CPU when many calls are in
flight (benchmarks/judge_transport.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Final, NamedTuple, TypeVar
from urllib.request import getproxies

import aiohttp
import httpx2
from httpx_aiohttp.httpx2 import AiohttpTransport, Httpx2AiohttpClient

from evalsi_kernel.broker.connector import ConnectorSettings
from evalsi_kernel.broker.reply_body import (
    ACCEPT_ENCODING,
    MAX_REPLY_BYTES,
    BadEncoding,
    ReplyTooLarge,
    reply_pieces,
    whole_reply,
)
from evalsi_kernel.errors import ConfigError

from .connection import connection_error, timeout_error
from .status import status_error
from .who import Who

# How long a connection may take to come about; a longer wait is for the reply, and that is the call's own time.
CONNECT_TIMEOUT_S = 15.0
UPLOAD_TIMEOUT_S = 900.0
_KEEP_ALIVE_S = 15.0

# What a call raises where no answer came. aiohttp's own come where the transport does not know them.
FAULTS: Final = (
    httpx2.HTTPError,
    httpx2.StreamError,
    aiohttp.ClientError,
    OSError,
    ReplyTooLarge,
    BadEncoding,
)

DOWNLOAD_TIMEOUT_S = 900.0
"""How long a file may take to arrive, without the time in which it is read."""
_limit_bytes: ContextVar[int] = ContextVar("limit_bytes", default=MAX_REPLY_BYTES)

T = TypeVar("T")


class Answer(NamedTuple):
    """A whole answer: HTTP status, headers (their names in any case), body."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """The status is that of a success; what came with it may be no reply all the same."""
        return 200 <= self.status < 300


def open_client(settings: ConnectorSettings, transport: AiohttpTransport | None = None) -> httpx2.AsyncClient:
    """A client for at most `settings.max_connections` connections; it waits as long as its api lets it.

    Args:
        settings: of the model.
        transport: what it is to send through; None takes one of its own, and the proxies of the environment.

    Raises:
        ConfigError: SSL_CERT_FILE or SSL_CERT_DIR leads nowhere, or a proxy's variable is no address.
    """
    timeout = httpx2.Timeout(None, connect=_connect_timeout_s(settings))
    # No redirect is followed: a key goes to the address that it was given for.
    return _prepared(
        lambda: Httpx2AiohttpClient(
            limits=_limits(settings),
            timeout=timeout,
            follow_redirects=False,
            transport=transport,
            headers={"Accept-Encoding": ACCEPT_ENCODING},
            event_hooks={"response": [_bound]},
        )
    )


@contextmanager
def larger_reply(limit_bytes: int) -> Iterator[None]:
    """Let the replies to calls that start within hold so much, as files of results do."""
    token = _limit_bytes.set(limit_bytes)
    try:
        yield
    finally:
        _limit_bytes.reset(token)


async def download(pieces: AsyncIterator[bytes], timeout_s: float) -> AsyncIterator[bytes]:
    """Yield the pieces of a file, within `DOWNLOAD_TIMEOUT_S` of waiting for them.

    Args:
        pieces: of the file.
        timeout_s: how long one piece may take.

    Raises:
        aiohttp.SocketTimeoutError: the file, or a piece of it, takes too long.
    """
    clock = asyncio.get_running_loop().time
    left_s = DOWNLOAD_TIMEOUT_S
    while True:
        began = clock()
        try:
            async with asyncio.timeout(min(left_s, timeout_s)):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError as cause:
            raise aiohttp.SocketTimeoutError("The file takes too long.") from cause
        left_s = max(0.0, left_s - (clock() - began))
        yield piece


async def _bound(response: httpx2.Response) -> None:
    """Have a response read within bounds and decompressed in steps, whoever reads it."""
    encoding = response.headers.pop("Content-Encoding", "")
    length = response.headers.pop("Content-Length", "")
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    limit_bytes = _limit_bytes.get() if response.is_success else MAX_REPLY_BYTES
    if length.isdecimal() and int(length) > limit_bytes:
        await response.stream.aclose()
        raise ReplyTooLarge(limit_bytes)
    response.stream = _BoundStream(response.stream, encoding, limit_bytes)


class _BoundStream(httpx2.AsyncByteStream):
    """The decompressed body of a response; the arguments are those of `reply_pieces`."""

    def __init__(self, stream: httpx2.AsyncByteStream, encoding: str, limit_bytes: int) -> None:
        self._stream = stream
        self._encoding = encoding
        self._limit_bytes = limit_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in reply_pieces(aiter(self._stream), self._encoding, self._limit_bytes):
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def open_transport(settings: ConnectorSettings) -> AiohttpTransport | None:
    """The transport whose connections are used directly; None where a proxy may stand between, the client's to find.

    Beside proxies the client adds redirects, cookies and a login, and no call here has any of these; but the client and
    httpx2's requests and responses are a fifth of what a call costs.

    Raises:
        ConfigError: as `open_client` does.
    """
    if getproxies().keys() - {"no"}:
        return None
    return _prepared(lambda: AiohttpTransport(limits=_limits(settings)))


def _connect_timeout_s(settings: ConnectorSettings) -> float:
    return min(CONNECT_TIMEOUT_S, settings.timeout_s)


def _limits(settings: ConnectorSettings) -> httpx2.Limits:
    return httpx2.Limits(max_connections=settings.max_connections, keepalive_expiry=_KEEP_ALIVE_S)


def _prepared(make: Callable[[], T]) -> T:
    try:
        return make()
    except (OSError, ValueError) as cause:
        raise ConfigError(
            f"No connection can be prepared: {cause}.",
            "Check SSL_CERT_FILE, SSL_CERT_DIR, HTTP_PROXY, HTTPS_PROXY and ALL_PROXY in the environment.",
        ) from cause


class Turns:
    """Lets so many calls be made at once, each within its time, and maps what they raise.

    Args:
        settings: `max_connections` and `timeout_s` are read. Waiting for a turn is no part of a call's time.
        who: that is called, for errors.
        faults: what a call may raise beside HTTP's own faults.
    """

    def __init__(self, settings: ConnectorSettings, who: Who, *faults: type[Exception]) -> None:
        self.timeout_s = settings.timeout_s
        self._turns = asyncio.Semaphore(settings.max_connections)
        self._who = who
        self._faults: tuple[type[Exception], ...] = (*FAULTS, *faults)

    async def take(self, call: Callable[[], Awaitable[T]], timeout_s: float | None = None) -> T:
        """Make a call in its turn, in so many seconds or the usual time.

        Raises:
            ProviderError: no whole answer came.
        """
        timeout_s = timeout_s or self.timeout_s
        async with self._turns:
            try:
                async with asyncio.timeout(timeout_s) as clock:
                    return await call()
            except self._faults as cause:
                if clock.expired():
                    raise timeout_error(self._who, timeout_s) from cause
                raise connection_error(cause, self._who) from cause


class ApiClient:
    """Makes calls to the endpoints of one address.

    Args:
        settings: of the model.
        headers: sent with every call; the key is among them.
        who: that is called.
    """

    def __init__(self, settings: ConnectorSettings, headers: Mapping[str, str], who: Who) -> None:
        self._transport = open_transport(settings)
        self._client = open_client(settings, self._transport)
        self._headers = dict(headers)
        self._heads: dict[str, tuple[str, dict[str, str]]] = {}
        self._timeout_s = settings.timeout_s
        # Of a connection alone; a call's own time is its turn's.
        self._timeout = aiohttp.ClientTimeout(sock_connect=_connect_timeout_s(settings))
        self._turns = Turns(settings, who)
        self._who = who

    async def post(self, path: str, content: bytes, limit_bytes: int = MAX_REPLY_BYTES) -> Answer:
        """Send JSON to an endpoint and return its answer, whatever its status.

        Args:
            path: of the endpoint.
            content: JSON.
            limit_bytes: the most that the answer may hold.

        Raises:
            ProviderError: no whole answer came.
        """
        return await self._turns.take(lambda: self._post(path, content, limit_bytes))

    async def get(self, path: str) -> Answer:
        """Read from an endpoint; raises as `post` does."""
        return await self._turns.take(lambda: self._get(path))

    async def upload(self, path: str, name: str, content: bytes, fields: Mapping[str, str]) -> Answer:
        """Send a file in a form with other fields; raises as `post` does."""
        headers = {name: value for name, value in self._headers.items() if name != "Content-Type"}
        send = partial(self._client.post, self._who.address.url(path), headers=headers, data=dict(fields))
        form = partial(send, files={"file": (name, content, "application/jsonl")})
        return _whole(await self._turns.take(form, UPLOAD_TIMEOUT_S))

    async def stream(self, path: str, limit_bytes: int) -> AsyncIterator[bytes]:
        """Yield the pieces of a file.

        Args:
            path: of the endpoint.
            limit_bytes: the most that the file may hold.

        Raises:
            ProviderError: it does not come whole, or its status is not 200.
        """
        timeout = httpx2.Timeout(self._timeout_s, pool=None)
        url = self._who.address.url(path)
        try:
            with larger_reply(limit_bytes):
                request = self._client.build_request("GET", url, headers=self._headers, timeout=timeout)
                response = await self._client.send(request, stream=True)
            try:
                if response.status_code != 200:
                    content = await whole_reply(download(response.aiter_bytes(), self._timeout_s), "")
                    raise status_error(response.status_code, response.headers, content, self._who)
                async for piece in download(response.aiter_bytes(), self._timeout_s):
                    yield piece
            finally:
                await response.aclose()
        except FAULTS as cause:
            raise connection_error(cause, self._who) from cause

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _get(self, path: str) -> Answer:
        return _whole(await self._client.get(self._who.address.url(path), headers=self._headers))

    async def _post(self, path: str, content: bytes, limit_bytes: int) -> Answer:
        if self._transport is None:
            url = self._who.address.url(path)
            with larger_reply(limit_bytes):
                return _whole(await self._client.post(url, content=content, headers=self._headers))
        url, headers = self._heads.get(path) or self._head(path)
        session, timeout = _session(self._transport), self._timeout
        call = session.post(
            url, data=content, headers=headers, timeout=timeout, allow_redirects=False, auto_decompress=False
        )
        async with call as response:
            encoding = response.headers.get("Content-Encoding", "")
            pieces = response.content.iter_any()
            answered = await whole_reply(pieces, encoding, limit_bytes, response.content_length)
        return Answer(response.status, response.headers, answered)

    def _head(self, path: str) -> tuple[str, dict[str, str]]:
        """Where a call to an endpoint goes and the headers it has, as the client would send it."""
        request = self._client.build_request("POST", self._who.address.url(path), headers=self._headers)
        # Of no content; each call has its own.
        del request.headers["Content-Length"]
        self._heads[path] = str(request.url), dict(request.headers)
        return self._heads[path]


def _session(transport: AiohttpTransport) -> aiohttp.ClientSession:
    """The connections of a transport; it opens them with its first call."""
    if not isinstance(transport.client, aiohttp.ClientSession):
        transport.client = transport.get_client()
    return transport.client


def _whole(response: httpx2.Response) -> Answer:
    return Answer(response.status_code, response.headers, response.content)
