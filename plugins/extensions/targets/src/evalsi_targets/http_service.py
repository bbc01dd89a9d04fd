"""A service that is asked over HTTP as the target of a run: a request a record, the output somewhere in its reply.

It must not know what is served.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.reply_body import (
    ACCEPT_ENCODING,
    MAX_REPLY_BYTES,
    BadEncoding,
    ReplyTooLarge,
    reply_pieces,
    whole_reply,
)
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.records.mapping import MISSING
from evalsi_kernel.target import Bounds, Generated, TargetInput, TargetSettings

from .answers import generated
from .http_faults import FAULTS, HTTP_KEYS, Keys, connection_error, is_page, status_error, timed_out
from .http_options import HttpOptions
from .http_stream import NotAStream, put_together
from .json_template import JsonTemplate
from .quoting import excerpt
from .reply_paths import found_at, found_or_missing
from .server_events import EVENTS, data_of_events, lines_of
from .spec_secrets import from_environment, without
from .template import PLACE, filled, in_text, value_at

_EXCERPT_BYTES = 8_192
_LONG_BYTES = 2**20
_CONNECT_TIMEOUT_S = 15.0
_KEEP_ALIVE_S = 15.0


class Reply(NamedTuple):
    """A whole reply that was a success."""

    content: bytes
    content_type: str
    charset: str

    @property
    def is_json(self) -> bool:
        return self.content_type == "application/json" or self.content_type.endswith("+json")


class HttpService:
    """The target; a protocol over HTTP is a subclass, which says what is sent and reads what comes.

    Raises:
        ConfigError: a variable that `headers_env` names is not set, or cannot be sent.
    """

    model = ""
    provider = ""
    keys: Keys = HTTP_KEYS

    def __init__(self, settings: TargetSettings) -> None:
        options = HttpOptions.model_validate(settings.options)
        secrets = from_environment(options.headers_env, "headers_env")
        _check_sendable(options.headers, "headers")
        self._open(settings, options, secrets, "headers_env")
        how = options.model_dump(exclude={"timeout_s", "headers_env"}, exclude_none=True)
        self.identity: Mapping[str, Any] = {"connector": settings.connector, **how, "headers_env": sorted(secrets)}

    def _open(
        self, settings: TargetSettings, options: HttpOptions, secrets: Mapping[str, str], secrets_key: str
    ) -> None:
        """Make the client.

        Args:
            settings: of the target.
            options: of HTTP.
            secrets: headers that nobody is to see.
            secrets_key: the key of the spec that they come from, for errors.
        """
        _check_sendable(secrets, secrets_key)
        self._options = options
        self._secrets = [value.split(" ")[-1] for value in secrets.values()] + list(secrets.values())
        self._whose = f"The service at {_shown(options.url)}"
        self._body = None if options.body_template is None else JsonTemplate(options.body_template)
        self._has_place = PLACE.search(options.url) is not None
        headers = {"Accept": "application/json, */*", "User-Agent": "evalsi", **options.headers, **secrets}
        if not any(name.lower() == "accept-encoding" for name in headers):
            headers["Accept-Encoding"] = ACCEPT_ENCODING
        if options.method != "GET" and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=settings.max_in_flight, keepalive_timeout=_KEEP_ALIVE_S),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(_CONNECT_TIMEOUT_S, options.timeout_s)),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # It is done within bounds.
            proxy=_proxy(options.url),
        )

    def bounds(self, given: TargetInput) -> Bounds:
        """Unknown: a service does not say beforehand what it takes."""
        return Bounds()

    async def generate(self, given: TargetInput) -> Generated:
        """Make one call."""
        record, options = given.record, self._options
        url = filled(options.url, record, _encoded) if self._has_place else options.url
        reply = await self._reply(url, self._body_for(record))
        others = {
            "usage": options.usage_path,
            "trajectory": options.trajectory_path,
            "finish": options.stop_reason_path,
        }
        if options.stream:
            return generated(_finished(self._streamed(reply, others)), self._whose)
        if options.output_path is None and not any(others.values()):
            return generated({"output": self._whole(reply)}, self._whose)
        value = self._json(reply)
        answer = {name: found_or_missing(value, path) for name, path in others.items()}
        answer["output"] = (
            self._whole(reply) if options.output_path is None else self._output(value, options.output_path)
        )
        return generated(
            _finished({name: found for name, found in answer.items() if found is not MISSING}), self._whose
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._session.close()

    def _body_for(self, record: Mapping[str, Any]) -> bytes | None:
        if self._options.method == "GET":
            return None
        if self._body is not None:
            return self._body.filled(record)
        return json.dumps({"input": value_at(record, "input")}, ensure_ascii=False).encode()

    async def _reply(self, url: str, body: bytes | None) -> Reply:
        timeout_s = self._options.timeout_s
        try:
            async with asyncio.timeout(timeout_s) as clock:
                return await self._asked(url, body)
        except FAULTS as cause:
            if clock.expired():
                raise timed_out(self._whose, timeout_s) from cause
            raise connection_error(cause, self._whose, self.keys) from cause

    async def _asked(self, url: str, body: bytes | None) -> Reply:
        # A long one is sent in pieces, so that it does not hold up the loop.
        data = body if body is None or len(body) < _LONG_BYTES else io.BytesIO(body)
        # No redirect is followed: what a header holds goes to the address that it was given for.
        async with self._session.request(self._options.method, url, data=data, allow_redirects=False) as response:
            if not 200 <= response.status < 300:
                content = await _excerpt_of(response)
                response.close()
                raise status_error(response.status, response.headers, content, self._whose, self._hide, keys=self.keys)
            content = await self._read(response)
            return Reply(content, response.content_type, response.charset or "utf-8")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        encoding = response.headers.get("Content-Encoding", "")
        try:
            return await whole_reply(response.content.iter_any(), encoding, length=response.content_length)
        except ReplyTooLarge as cause:
            response.close()
            raise ProviderError(
                "target.output",
                f"{self._whose} answered with {cause}; the rest was not read.",
                "Have it answer with less.",
            ) from cause
        except BadEncoding as cause:
            response.close()
            message = f"{self._whose} answered with {cause}."
            hint = f"Have it answer without compression, or with one of {ACCEPT_ENCODING}."
            raise ProviderError("provider.bad_reply", message, hint, retry="later") from cause

    def _streamed(self, reply: Reply, others: Mapping[str, str | None]) -> dict[str, Any]:
        """What a reply in pieces says; one that is to say why it ended, and does not, is broken off."""
        text, delta_path = self._text(reply), self._options.delta_path
        if reply.content_type == EVENTS:
            pieces = data_of_events(text)
        else:
            # Text that is streamed as it is has no pieces, and its ends of lines belong to it.
            pieces = iter([text]) if delta_path is None else lines_of(text)
        try:
            found = put_together(pieces, delta_path, others)
        except NotAStream as cause:
            said = self._hide(excerpt(cause.piece.encode()))
            message = f"{self._whose} streamed {said}, which {cause.why}."
            is_html = is_page(cause.piece.encode())
            hint = self.keys.no_json
            raise ProviderError("provider.bad_reply", message, hint, retry="later", is_page=is_html) from cause
        if others["finish"] is not None and "finish" not in found:
            message = f"{self._whose} ended its stream and did not say why at {others['finish']}: it is broken off."
            raise ProviderError(
                "provider.connection", message, "Correct spec.target.stop_reason_path, or wait.", retry="later"
            )
        return found

    def _json(self, reply: Reply) -> Any:
        try:
            return json.loads(reply.content)
        except (ValueError, RecursionError) as cause:
            raise ProviderError(
                "provider.bad_reply",
                f"{self._whose} answered with what is no JSON: {self._hide(excerpt(reply.content))}.",
                self.keys.no_json,
                retry="later",
                is_page=is_page(reply.content),
            ) from cause

    def _whole(self, reply: Reply) -> Any:
        return self._json(reply) if reply.is_json else self._text(reply)

    def _text(self, reply: Reply) -> str:
        try:
            return reply.content.decode(reply.charset)
        except (UnicodeDecodeError, LookupError) as cause:
            raise ProviderError(
                "target.output",
                f"{self._whose} answered with what is no text in {reply.charset} ({reply.content_type}).",
                "Have it answer with text or JSON.",
            ) from cause

    def _output(self, value: Any, path: str) -> Any:
        return found_at(value, path, "output_path", self._whose)

    def _hide(self, text: str) -> str:
        return without(self._secrets, text)


async def _excerpt_of(response: aiohttp.ClientResponse) -> bytes:
    """The beginning of a body that only an error message shows."""
    content = b""
    encoding = response.headers.get("Content-Encoding", "")
    try:
        async for piece in reply_pieces(response.content.iter_any(), encoding, MAX_REPLY_BYTES):
            content += piece
            if len(content) >= _EXCERPT_BYTES:
                break
    except (ReplyTooLarge, BadEncoding):
        pass  # What was read until then says enough.
    return content[:_EXCERPT_BYTES]


def _encoded(value: Any) -> str:
    return quote(in_text(value), safe="")


def _shown(url: str) -> str:
    """The address without its query."""
    parts = urlsplit(PLACE.sub("…", url))
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for an address; looked up once, not with each call."""
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme.lower()) or proxies.get("all")
    if proxy is None or proxy_bypass(parts.hostname or ""):
        return None
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise ConfigError(
            "The proxy that the environment names is neither http:// nor https://, which alone can be used here.",
            "Check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name the host in NO_PROXY.",
        )
    return proxy


def _check_sendable(headers: Mapping[str, str], key: str) -> None:
    for name, value in headers.items():
        if not value.isprintable() or not value.isascii():
            raise ConfigError(
                f"The value of {name} in spec.target.{key} cannot be sent: it has a line break or a character beyond "
                "ASCII in it.",
                "Set it again.",
            )


def _finished(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the reason why it ended, where it says one, as `metadata.finish`."""
    finish = answer.pop("finish", None)
    return answer if finish is None else {**answer, "metadata": {"finish": finish}}
