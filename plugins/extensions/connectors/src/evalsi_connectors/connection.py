"""Maps what went wrong below HTTP to an error: no host, no server, no trust, no time, a connection that broke.

It must not know any API. The transport names some faults after others (a closed connection comes as a timeout of
connecting), so what counts is the cause that lies deepest.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

import aiohttp
import httpx2

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.reply_body import BadEncoding, ReplyTooLarge

from .failure import failure
from .status import PROXY_LOGIN, proxy_login
from .who import Who

_RETRY = "Try again later."


def timeout_error(who: Who, timeout_s: float) -> ProviderError:
    """The error for a call whose time ran out."""
    lower = "lower --judge-max-tokens, " if who.kind == "judge" else ""
    hint = f"Raise --judge-timeout, {lower}or try again later."
    return failure("provider.timeout", f"{who} did not answer within {timeout_s:g} seconds.", hint)


def connection_error(cause: BaseException, who: Who) -> ProviderError:
    """The error for what a call raised."""
    chain = list(_chain(cause))
    check = _check(who)
    if any(isinstance(one, httpx2.ReadTimeout | aiohttp.SocketTimeoutError) for one in chain):
        return failure("provider.timeout", f"{who} stopped in the middle of its answer.", _RETRY)
    for one in chain:
        if found := _body(one, who) or _tls(one, who) or _address(one, who):
            return found
    if any(isinstance(one, TimeoutError | httpx2.ConnectTimeout) and not _closed(one) for one in chain) and not any(
        map(_closed, chain)
    ):
        return failure("provider.timeout", f"{who} did not take the connection in time.", check, is_sent=False)
    if any(isinstance(one, aiohttp.ClientHttpProxyError) and one.status == PROXY_LOGIN for one in chain):
        return proxy_login(f"{who} did not answer: the proxy wants a login ({PROXY_LOGIN}).")
    if any(isinstance(one, httpx2.DecodingError | aiohttp.ClientResponseError) for one in chain):
        said = who.quoted(str(cause))
        return failure("provider.bad_reply", f"{who} answered with what is no HTTP: {said}.", check)
    if any(isinstance(one, aiohttp.ClientPayloadError) for one in chain):
        return failure("provider.connection", f"{who} closed the connection in the middle of its answer.", _RETRY)
    if any(map(_closed, chain)):
        return failure("provider.connection", f"{who} closed the connection without an answer.", _RETRY)
    said = who.quoted(str(cause)) or type(cause).__name__
    return failure("provider.connection", f"The connection to {who} failed: {said}.", check)


def _check(who: Who) -> str:
    if who.proxy:
        return f"Check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name {who.address.host} in NO_PROXY to go without."
    return f"Check {who.flag('base-url')}, and that the server runs and can be reached from here."


def _body(cause: BaseException, who: Who) -> ProviderError | None:
    if isinstance(cause, ReplyTooLarge):
        message = f"{who} answered with {cause}; the rest was not read."
        return failure("provider.too_large", message, f"Check {who.flag('base-url')}, or name another model.")
    if isinstance(cause, BadEncoding):
        return failure("provider.bad_reply", f"{who} answered with {cause}.", _check(who))
    return None


def _tls(cause: BaseException, who: Who) -> ProviderError | None:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return failure(
            "provider.tls",
            f"The certificate of {who} cannot be trusted: {cause.verify_message}.",
            "If the server is yours, write its CA's certificate (PEM) to a file and set SSL_CERT_FILE to its path.",
            is_final=True,
            is_sent=False,
        )
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        reason = (getattr(cause, "reason", None) or "unknown reason").lower().replace("_", " ")
        return failure(
            "provider.tls",
            f"No secure connection to {who} can be made: {reason}.",
            f"Write http:// in {who.flag('base-url')} if the server speaks plain HTTP there.",
            is_final=True,
            is_sent=False,
        )
    return None


def _address(cause: BaseException, who: Who) -> ProviderError | None:
    if isinstance(cause, socket.gaierror):
        if who.proxy:
            said = f"No address is known for {who}, or for the proxy."
            return failure("provider.connection", said, _check(who), is_sent=False)
        said = f"The name {who.address.host} of {who} leads to no address."
        return failure("provider.connection", said, f"Check {who.flag('base-url')}, and the network.", is_sent=False)
    if not isinstance(cause, OSError):
        return None
    if cause.errno == errno.ECONNREFUSED:
        said = f"Nothing listens at the address of {who}."
        return failure("provider.connection", said, _check(who), is_sent=False)
    if cause.errno in (errno.EMFILE, errno.ENFILE):
        hint = "Raise the limit (ulimit -n), or allow fewer calls at once (--judge-max-in-flight)."
        said = f"Too many files are open for a connection to {who}."
        return failure("provider.connection", said, hint, is_sent=False)
    return None


def _closed(cause: BaseException) -> bool:
    return isinstance(cause, aiohttp.ServerDisconnectedError | ConnectionResetError | BrokenPipeError | ssl.SSLEOFError)


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    """An exception and what lies behind it, the deepest first; aiohttp keeps some behind an attribute."""
    seen: list[BaseException] = []
    waiting = [cause]
    while waiting:
        one = waiting.pop()
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        # Several addresses of one host were tried.
        members = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [one.__cause__, one.__context__, getattr(one, "os_error", None), *members]
        waiting.append(getattr(one, "_certificate_error", None))
    return reversed(seen)
