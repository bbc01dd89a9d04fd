"""Owns the HTTP client: the transport, its limits, and the one place where a call is made and its faults are mapped.

httpx2's API on aiohttp's connections: httpx2's own pool costs many times the CPU when many calls are in flight
(benchmarks/judge_transport.py). It must not know any API.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Final, NamedTuple, TypeVar
from urllib.request import getproxies

import aiohttp
import httpx2
from httpx_aiohttp.httpx2 import AiohttpTransport, Httpx2AiohttpClient

from evalsi_kernel.broker.connector import ConnectorSettings
from evalsi_kernel.errors import ConfigError

from .connection import connection_error, timeout_error
from .status import status_error
from .who import Who

# How long a connection may take to come about; a longer wait is for the reply, and that is the call's own time.
CONNECT_TIMEOUT_S = 15.0
UPLOAD_TIMEOUT_S = 900.0
_KEEP_ALIVE_S = 15.0

# What a call raises where no answer came. aiohttp's own come where the transport does not know them.
FAULTS: Final = (httpx2.HTTPError, httpx2.StreamError, aiohttp.ClientError, OSError)

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
    """A client for at most `settings.max_connections` connections; it waits as long as its caller lets it.

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
            limits=_limits(settings), timeout=timeout, follow_redirects=False, transport=transport
        )
    )


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
        self._timeout_s = settings.timeout_s
        self._turns = asyncio.Semaphore(settings.max_connections)
        self._who = who
        self._faults: tuple[type[Exception], ...] = (*FAULTS, *faults)

    async def take(self, call: Callable[[], Awaitable[T]], timeout_s: float | None = None) -> T:
        """Make a call in its turn, in so many seconds or the usual time.

        Raises:
            ProviderError: no whole answer came.
        """
        timeout_s = timeout_s or self._timeout_s
        async with self._turns:
            try:
                async with asyncio.timeout(timeout_s) as clock:
                    return await call()
            except self._faults as cause:
                if clock.expired():
                    raise timeout_error(self._who, timeout_s) from cause
                raise connection_error(cause, self._who) from cause


class Caller:
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

    async def post(self, path: str, content: bytes) -> Answer:
        """Send JSON to an endpoint; raises `ProviderError` where no whole answer comes, whatever its status."""
        return await self._turns.take(lambda: self._post(path, content))

    async def get(self, path: str) -> Answer:
        """Read from an endpoint; raises as `post` does."""
        return await self._turns.take(lambda: self._get(path))

    async def upload(self, path: str, name: str, content: bytes, fields: Mapping[str, str]) -> Answer:
        """Send a file in a form with other fields; raises as `post` does."""
        headers = {name: value for name, value in self._headers.items() if name != "Content-Type"}
        send = partial(self._client.post, self._who.address.url(path), headers=headers, data=dict(fields))
        form = partial(send, files={"file": (name, content, "application/jsonl")})
        return _whole(await self._turns.take(form, UPLOAD_TIMEOUT_S))

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Read an endpoint that may be long, in pieces; raises `ProviderError` for any status but 200 too."""
        timeout = httpx2.Timeout(self._timeout_s, pool=None)
        url = self._who.address.url(path)
        try:
            async with self._client.stream("GET", url, headers=self._headers, timeout=timeout) as response:
                if response.status_code != 200:
                    raise status_error(response.status_code, response.headers, await response.aread(), self._who)
                async for piece in response.aiter_bytes():
                    yield piece
        except FAULTS as cause:
            raise connection_error(cause, self._who) from cause

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _get(self, path: str) -> Answer:
        return _whole(await self._client.get(self._who.address.url(path), headers=self._headers))

    async def _post(self, path: str, content: bytes) -> Answer:
        if self._transport is None:
            url = self._who.address.url(path)
            return _whole(await self._client.post(url, content=content, headers=self._headers))
        url, headers = self._heads.get(path) or self._head(path)
        session, timeout = _session(self._transport), self._timeout
        call = session.post(
            url, data=content, headers=headers, timeout=timeout, allow_redirects=False, auto_decompress=False
        )
        async with call as response:
            answered = await response.read()
        if response.status == HTTPStatus.OK and "Content-Encoding" not in response.headers:
            return Answer(response.status, response.headers, answered)
        return _whole(httpx2.Response(response.status, headers=response.raw_headers, content=answered))

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
