"""What a call over HTTP that brought no reply is told as: nobody there, no trust, no time, a status that is no success.

It must not know what was asked.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import aiohttp

from evalsi_kernel.broker.connector import ProviderError

from .quoting import excerpt, on_one_line
from .waiting import retry_after_s

FAULTS = (aiohttp.ClientError, OSError, TimeoutError)
_LATER = (408, 409, 425)
_BLANK = b"\xef\xbb\xbf \t\r\n"


class Keys(NamedTuple):
    """The keys of a spec that errors send people to.

    Args:
        address: where the address stands.
        wrong_address: what to check where nothing is served there.
        secret: what names the variable of the key.
        body: what makes the body.
        no_json: what to do where JSON was needed and something else came.
    """

    address: str = "spec.target.url"
    wrong_address: str = "spec.target.url and spec.target.method"
    secret: str = "spec.target.headers_env"
    body: str = "spec.target.body_template"
    no_json: str = "Check spec.target.url; without the paths into it a reply may be text."


HTTP_KEYS = Keys()


def timed_out(whose: str, timeout_s: float) -> ProviderError:
    """The error for a call whose time ran out."""
    return ProviderError(
        "target.timeout",
        f"{whose} did not answer within {timeout_s:g} seconds.",
        "Raise spec.target.timeout_s, or lower spec.target.max_concurrency.",
        retry="later",
    )


def connection_error(cause: BaseException, whose: str, keys: Keys = HTTP_KEYS) -> ProviderError:
    """The error for what a call raised."""
    within = whose[:1].lower() + whose[1:]
    for one in _chain(cause):
        if isinstance(one, ssl.SSLCertVerificationError):
            return ProviderError(
                "provider.tls",
                f"The certificate of {within} cannot be trusted: {getattr(one, 'verify_message', one)}.",
                "If it is yours, write its CA's certificate (PEM) to a file and set SSL_CERT_FILE to its path.",
                source="config",
                is_final=True,
                is_sent=False,
            )
        if isinstance(one, ssl.SSLError) and not isinstance(one, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            reason = (getattr(one, "reason", None) or "unknown reason").lower().replace("_", " ")
            return ProviderError(
                "provider.tls",
                f"No secure connection to {within} can be made: {reason}.",
                f"Write http:// in {keys.address} if the service speaks plain HTTP there.",
                source="config",
                is_final=True,
                is_sent=False,
            )
        if isinstance(one, socket.gaierror):
            return _unreachable(f"The name of the host of {within} leads to no address.", keys, is_sent=False)
        if isinstance(one, OSError) and one.errno == errno.ECONNREFUSED:
            return _unreachable(f"Nothing listens there: {within} refused the connection.", keys, is_sent=False)
    return _broken_off(cause, whose, within, keys)


def _broken_off(cause: BaseException, whose: str, within: str, keys: Keys) -> ProviderError:
    """The error for a connection that came about, or nearly."""
    if isinstance(cause, aiohttp.ServerTimeoutError):
        return _unreachable(f"{whose} did not take the connection in time.", keys, is_sent=False)
    if isinstance(cause, aiohttp.ClientPayloadError):
        return _unreachable(f"{whose} closed the connection in the middle of its answer.", keys)
    if isinstance(cause, aiohttp.ClientResponseError):
        said = on_one_line(str(cause))
        message = f"{whose} answered with what is no HTTP: {said}."
        return ProviderError("provider.bad_reply", message, _reachable(keys), retry="later")
    if isinstance(cause, aiohttp.ServerDisconnectedError | ConnectionResetError | BrokenPipeError):
        return _unreachable(f"{whose} closed the connection without an answer.", keys)
    return _unreachable(f"The connection to {within} failed: {on_one_line(str(cause)) or type(cause).__name__}.", keys)


def status_error(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    whose: str,
    hide: Callable[[str], str],
    *,
    keys: Keys = HTTP_KEYS,
) -> ProviderError:
    """The error for an answer that is no success.

    Args:
        status: of HTTP.
        headers: of the answer, with names in any case.
        content: the beginning of the body.
        whose: who answered, to begin a sentence with.
        hide: takes secrets out of what was answered.
        keys: of the spec.
    """
    if 300 <= status < 400:
        where = hide(on_one_line(headers.get("location", ""))) or "another address"
        return ProviderError(
            "provider.not_found",
            f"{whose} sends its callers on to {where} ({status}), which is not followed.",
            f"Give the address that it names with {keys.address}.",
            source="config",
            is_final=True,
        )
    message = f"{whose} answered {status}: {hide(excerpt(content))}."
    wait_s = retry_after_s(headers.get("retry-after"))
    if status == 429:
        hint = "Lower spec.target.max_concurrency."
        return ProviderError("provider.rate_limited", message, hint, retry="later", retry_after_s=wait_s)
    if status == 500 and not _may_be_json(content):
        # A service says in JSON why it failed. The pages of 502 to 504 are a balancer's in front of it.
        hint = f"Check {keys.wrong_address}, or look at the service's own log."
        return ProviderError("provider.failed", message, hint, retry="later", retry_after_s=wait_s, is_page=True)
    if status >= 500 and status != 501:
        hint = "Look at the service's own log."
        return ProviderError("provider.failed", message, hint, retry="later", retry_after_s=wait_s)
    if status in _LATER:
        return ProviderError("provider.failed", message, "Try again later.", retry="later", retry_after_s=wait_s)
    if status in (401, 403):
        hint = f"Check what {keys.secret} names."
        return ProviderError("provider.auth", message, hint, source="config", is_final=True)
    if status in (404, 405, 501):
        hint = f"Check {keys.wrong_address}."
        return ProviderError("provider.not_found", message, hint, source="config", is_final=True)
    return ProviderError("provider.bad_request", message, f"Check {keys.body}.", source="config")


def _may_be_json(content: bytes) -> bool:
    """Whether the beginning of a body is, or may go on as, a JSON object or list."""
    return content.lstrip(_BLANK).startswith((b"{", b"["))


def is_page(content: bytes) -> bool:
    """Whether a body is HTML or other markup, as a web server or a proxy answers where the service is not."""
    return content.lstrip(_BLANK).startswith(b"<")


def _reachable(keys: Keys) -> str:
    return f"Check {keys.address}, and that the service runs and can be reached from here."


def _unreachable(message: str, keys: Keys, *, is_sent: bool = True) -> ProviderError:
    return ProviderError("provider.connection", message, _reachable(keys), retry="later", is_sent=is_sent)


def _chain(cause: BaseException | None) -> Iterator[BaseException]:
    """An exception and what lies behind it, the deepest first; aiohttp keeps some behind an attribute."""
    seen: list[BaseException] = []
    waiting = [cause]
    while waiting:
        one = waiting.pop()
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        members = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [one.__cause__, one.__context__, getattr(one, "os_error", None), *members]
        waiting.append(getattr(one, "_certificate_error", None))
    return reversed(seen)
