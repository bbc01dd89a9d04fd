"""A proxy of the environment is named where a call fails: who knows nothing of it looks for the fault at the server."""

from __future__ import annotations

import pytest

from evalsi_connectors.proxies import proxy_before
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.errors import ConfigError
from tests.connectors.calling import ANTHROPIC, OPENAI, asked, calls, made, settings
from tests.connectors.raw_servers import said_raw

BOTH = (OPENAI, ANTHROPIC)
LOGIN = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="c"\r\n'
    b"Content-Length: 5\r\nConnection: close\r\n\r\nlogin"
)


def failed_through(url: str, provider: str) -> ProviderError:
    (result,) = calls(settings(url, provider), asked())
    assert isinstance(result, ProviderError), result
    return result


# Of the transport, which speaks to its library in an older way.
@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated", "ignore:The .proxy_auth. parameter is deprecated")
@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_not_there_is_named_and_its_password_is_not(
    provider: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", "http://user:pa55word@127.0.0.1:1")
    error = failed_through(f"{scheme}://judge.invalid/v1", provider).error
    assert error.code == "provider.connection"
    assert "through the proxy http://127.0.0.1:1" in error.message
    assert "HTTPS_PROXY" in error.hint
    assert "judge.invalid in NO_PROXY" in error.hint
    assert "pa55word" not in f"{error}"


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_a_login_is_asked_once(provider: str, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with said_raw(LOGIN) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.removesuffix("/v1"))
        failure = failed_through(f"{scheme}://judge.invalid/v1", provider)
    assert (failure.error.code, failure.is_final) == ("provider.auth", True)
    assert "407" in failure.error.message
    assert "http://USER:PASSWORD@HOST:PORT" in failure.error.hint


@pytest.mark.parametrize("named", ["garbage::", "http://", "http://user:pa55word@host:port"])
@pytest.mark.parametrize("provider", BOTH)
def test_a_variable_that_holds_no_address_is_told_before_any_call(
    provider: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", named)
    with pytest.raises(ConfigError, match="is no address") as caught:
        made(settings("http://judge.invalid/v1", provider))
    assert "HTTP_PROXY" in caught.value.hint
    assert "pa55word" not in str(caught.value)


def test_a_host_in_no_proxy_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "localhost")
    assert proxy_before("http://judge.example/v1") == "http://proxy.example:3128"
    assert proxy_before("http://localhost:8000/v1") is None
    assert proxy_before("https://judge.example/v1") is None
