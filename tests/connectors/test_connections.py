"""What goes wrong below HTTP is told by its deepest cause, whatever the transport names it after."""

from __future__ import annotations

import asyncio
import errno
import ssl
from pathlib import Path

import aiohttp
import httpx2
import pytest

from evalsi_connectors.address import read_address
from evalsi_connectors.connection import connection_error
from evalsi_connectors.transport import open_client
from evalsi_connectors.who import Who
from evalsi_kernel.errors import ConfigError
from tests.connectors.calling import settings

WHO = Who("openai-compatible", "m", read_address("http://localhost/v1", ""), None)


def behind(fault: Exception, *causes: BaseException) -> Exception:
    """A fault with what lies behind it."""
    last: BaseException = fault
    for cause in causes:
        last.__cause__ = cause
        last = cause
    return fault


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        # aiohttp's closed connections come out of the transport as timeouts of connecting.
        (
            behind(httpx2.ConnectTimeout("Server disconnected"), aiohttp.ServerDisconnectedError()),
            "provider.connection",
            "closed the connection without an answer",
        ),
        (behind(httpx2.ConnectTimeout(""), ConnectionResetError()), "provider.connection", "closed the connection"),
        (httpx2.ConnectTimeout("slow"), "provider.timeout", "did not take the connection"),
        (behind(httpx2.ReadTimeout(""), aiohttp.SocketTimeoutError()), "provider.timeout", "stopped"),
        (
            behind(httpx2.ConnectError(""), OSError(errno.EMFILE, "Too many open files")),
            "provider.connection",
            "Too many files are open",
        ),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "provider.connection", "Network is unreachable"),
        (behind(httpx2.ConnectError(""), ssl.SSLEOFError()), "provider.connection", "closed the connection"),
        (behind(httpx2.ConnectError(""), ssl.SSLError(1, "odd")), "provider.tls", "No secure connection"),
        (behind(httpx2.ReadError(""), aiohttp.ClientPayloadError()), "provider.connection", "in the middle"),
        (httpx2.DecodingError("bad gzip"), "provider.bad_reply", "no HTTP"),
        (httpx2.ProxyError("407 Proxy Authentication Required"), "provider.connection", "407"),
        (httpx2.RemoteProtocolError(""), "provider.connection", "RemoteProtocolError"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else None,
)
def test_the_deepest_cause_counts(fault: Exception, code: str, words: str) -> None:
    error = connection_error(fault, WHO)

    assert error.error.code == code
    assert words in error.error.message
    assert error.error.hint


def test_causes_that_lie_in_a_circle_end() -> None:
    first, second = httpx2.ConnectError("one"), OSError("two")
    first.__cause__, second.__cause__ = second, first

    assert connection_error(first, WHO).error.code == "provider.connection"


def test_of_several_addresses_that_were_tried_the_fault_of_one_is_told() -> None:
    group = ExceptionGroup("all failed", [ConnectionRefusedError(errno.ECONNREFUSED, "refused")])

    assert "Nothing listens" in connection_error(behind(httpx2.ConnectError(""), group), WHO).error.message


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE"])
def test_a_variable_of_certificates_that_leads_nowhere_is_told(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "missing.pem"))

    async def run() -> None:
        open_client(settings("http://localhost"))

    with pytest.raises(ConfigError) as caught:
        asyncio.run(run())

    assert variable in caught.value.hint
