"""Each way in which a provider can fail, over real HTTP: its code, whether to try again, and what to do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.connector import ProviderError
from evalsi_protocol.error_codes import ERROR_CODES
from tests.connectors.calling import ANTHROPIC, BOTH, OPENAI, asked, calls, failed, replied, settings, url_of
from tests.connectors.raw_servers import closing, said_raw
from tests.providers import KEY, Provider, faults
from tests.providers.faults import Fault, Page, Status

TABLE: list[tuple[Fault, str, bool]] = [
    (faults.unauthorized(), "provider.auth", True),
    (faults.forbidden(), "provider.auth", True),
    (faults.not_found(), "provider.not_found", True),
    (faults.bad_request(), "provider.bad_request", False),
    (Status(413, "The request is too large."), "provider.bad_request", False),
    (Status(402, "Pay first."), "provider.quota", True),
    (faults.quota_exhausted(), "provider.quota", True),
    (Status(400, "Your credit balance is too low to use the API."), "provider.quota", True),
    (faults.rate_limited(), "provider.rate_limited", False),
    (Status(408, "The request took too long to arrive."), "provider.timeout", False),
    (Status(409, "Another request stands in the way."), "provider.failed", False),
    (faults.server_error(500), "provider.failed", False),
    (faults.server_error(502), "provider.failed", False),
    (faults.overloaded(), "provider.rate_limited", False),
    (Status(501, "No."), "provider.unsupported", False),
    (faults.html_page(503), "provider.failed", False),
    (faults.html_page(200), "provider.bad_reply", False),
    (faults.empty_body(), "provider.bad_reply", False),
    (faults.empty_body(500), "provider.failed", False),
    (faults.truncated_json(), "provider.bad_reply", False),
    (faults.missing_choices(), "provider.bad_reply", False),
    (Page(200, b"[1, 2]", "application/json"), "provider.bad_reply", False),
    (Page(200, b'"text"', "application/json"), "provider.bad_reply", False),
    (Page(200, b"{}", "application/json"), "provider.bad_reply", False),
    (Page(200, b"\xff\xfe\x00{", "application/json"), "provider.bad_reply", False),
    (Page(200, b"[" * 100_000, "application/json"), "provider.bad_reply", False),
    (Page(204, b"", "application/json"), "provider.bad_reply", False),
    (faults.close_before_answer(), "provider.connection", False),
    (faults.close_mid_body(), "provider.connection", False),
]


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    ("fault", "code", "is_final"), TABLE, ids=lambda one: getattr(one, "code", None) or str(one)[:40]
)
def test_a_fault_is_an_error_with_its_code_and_a_hint(provider: str, fault: Fault, code: str, is_final: bool) -> None:
    with Provider(faults=[fault]) as server:
        error = failed(server, asked(), provider)

        assert error.error.code == code
        assert error.is_final == is_final
        assert (error.error.source, error.error.retry) == (ERROR_CODES[code].source, ERROR_CODES[code].retry)
        assert url_of(server, provider) in error.error.message
        assert error.error.hint
        assert server.calls == 1


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("fault", [faults.hang(), faults.stall_mid_body()], ids=["hang", "stall"])
def test_a_server_that_goes_silent_ends_the_call_when_its_time_is_over(provider: str, fault: Fault) -> None:
    with Provider(faults=[fault]) as server:
        error = failed(server, asked(), provider, timeout_s=0.2)

    assert error.error.code == "provider.timeout"
    assert "0.2 seconds" in error.error.message
    assert "--judge-timeout" in error.error.hint


@pytest.mark.parametrize("provider", BOTH)
def test_a_connection_that_broke_does_not_harm_the_next_call(provider: str) -> None:
    with Provider(faults=[faults.close_mid_body(), None]) as server:
        first, second = calls(settings(url_of(server, provider), provider), asked(), asked())

    assert isinstance(first, ProviderError)
    assert isinstance(second, Reply)


@pytest.mark.parametrize("provider", BOTH)
def test_where_nothing_listens_the_error_says_so(provider: str) -> None:
    with Provider() as server:
        url = url_of(server, provider)
    (error,) = calls(settings(url, provider), asked())

    assert isinstance(error, ProviderError)
    assert error.error.code == "provider.connection"
    assert error.error.retry == "later"
    assert f"Nothing listens at the address of {provider} at {url}" in error.error.message


@pytest.mark.parametrize("provider", BOTH)
def test_a_name_that_leads_nowhere_is_told_by_its_name(provider: str) -> None:
    (error,) = calls(settings("http://no-such-host.invalid/v1", provider), asked())

    assert isinstance(error, ProviderError)
    assert error.error.code == "provider.connection"
    assert "no-such-host.invalid" in error.error.message


@pytest.mark.parametrize("provider", BOTH)
def test_a_certificate_that_is_not_trusted_says_how_to_trust_it(provider: str) -> None:
    with Provider(tls=True) as server:
        error = failed(server, asked(), provider)

    assert error.error.code == "provider.tls"
    assert error.error.retry == "no"
    assert error.is_final
    assert "SSL_CERT_FILE" in error.error.hint


@pytest.mark.parametrize("provider", BOTH)
def test_a_certificate_is_trusted_by_its_authority(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider(tls=True) as server:
        (tmp_path / "ca.pem").write_bytes(server.authority_pem)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))

        assert replied(server, asked("Hello."), provider).text == "Hello."


@pytest.mark.parametrize("provider", BOTH)
def test_plain_http_behind_an_https_address_says_which_to_write(provider: str) -> None:
    with Provider() as server:
        url = url_of(server, provider).replace("http:", "https:")
        (error,) = calls(settings(url, provider), asked())

    assert isinstance(error, ProviderError)
    assert error.error.code == "provider.tls"
    assert "http://" in error.error.hint


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "provider.bad_reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc", "provider.bad_reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", "provider.connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "provider.bad_reply"),
        (b"", "provider.connection"),
    ],
    ids=["no HTTP", "no gzip", "short body", "bad chunk", "nothing"],
)
def test_what_is_no_http_is_an_error_all_the_same(provider: str, answer: bytes, code: str) -> None:
    with said_raw(answer) as url:
        (error,) = calls(settings(url, provider), asked())

    assert isinstance(error, ProviderError)
    assert error.error.code == code


def test_a_host_that_takes_no_connection_is_waited_for_no_longer_than_the_call_may_take() -> None:
    with closing() as url:
        (error,) = calls(settings(url, timeout_s=0.3), asked())

    assert isinstance(error, ProviderError)
    assert error.error.code in ("provider.timeout", "provider.connection")


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("as_date", [False, True])
def test_how_long_to_wait_is_taken_from_retry_after(provider: str, as_date: bool) -> None:
    with Provider(faults=[faults.rate_limited(30, as_date=as_date)]) as server:
        error = failed(server, asked(), provider)

    assert error.retry_after_s == pytest.approx(30, abs=2)


@pytest.mark.parametrize(
    "limited",
    [
        Status(429, "You exceeded your current quota; please retry in 34 s.", retry_after="34"),
        Status(429, "You exceeded your current quota, please check your plan and billing details."),
        Status(429, "Quota exceeded for requests a minute.", "insufficient_quota", retry_after="34"),
    ],
)
def test_a_quota_that_comes_back_by_itself_is_a_rate_limit(limited: Status) -> None:
    with Provider(faults=[limited]) as server:
        error = failed(server, asked())

    assert (error.error.code, error.is_final) == ("provider.rate_limited", False)


def test_a_request_that_speaks_of_billing_is_no_empty_account() -> None:
    with Provider(faults=[faults.bad_request("messages[0].content: 'billing address' is not allowed")]) as server:
        assert failed(server, asked()).error.code == "provider.bad_request"


@pytest.mark.parametrize("provider", BOTH)
def test_a_proxy_of_the_environment_is_used(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Provider() as server:
        monkeypatch.setenv("HTTP_PROXY", server.root_url)
        url = "http://judge.invalid" + ("" if provider == ANTHROPIC else "/v1")
        (reply,) = calls(settings(url, provider), asked("Through a proxy."))

    assert isinstance(reply, Reply), reply
    assert reply.text == "Through a proxy."


@pytest.mark.parametrize("provider", BOTH)
def test_without_retry_after_there_is_no_wait_to_tell(provider: str) -> None:
    with Provider(faults=[faults.rate_limited()]) as server:
        assert failed(server, asked(), provider).retry_after_s is None


@pytest.mark.parametrize("provider", BOTH)
def test_a_redirect_is_not_followed_and_its_address_is_told(provider: str) -> None:
    answer = b"HTTP/1.1 308 Permanent Redirect\r\nLocation: https://elsewhere.example/v1\r\nContent-Length: 0\r\n\r\n"
    with said_raw(answer) as url:
        (error,) = calls(settings(url, provider), asked())

    assert isinstance(error, ProviderError)
    assert error.error.code == "provider.not_found"
    assert error.is_final
    assert "https://elsewhere.example/v1" in error.error.message


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize(
    "body", [{"error": {"message": "Slow down.", "code": 429}}, {"error": {"message": "Slow down.", "type": "429"}}]
)
def test_an_error_that_comes_with_a_success_is_that_error(provider: str, body: object) -> None:
    with Provider(faults=[Page(200, json.dumps(body).encode(), "application/json")]) as server:
        error = failed(server, asked(), provider)

    assert error.error.code == "provider.rate_limited"
    assert "Slow down" in error.error.message


def test_an_error_within_a_choice_is_that_error() -> None:
    body = b'{"choices": [{"message": {"content": ""}, "error": {"code": 502, "message": "The model went away."}}]}'
    with Provider(faults=[Page(200, body, "application/json")]) as server:
        assert failed(server, asked()).error.code == "provider.failed"


@pytest.mark.parametrize("provider", BOTH)
@pytest.mark.parametrize("status", [200, 401, 500])
def test_what_a_server_says_is_shown_short_on_one_line_and_without_its_key(provider: str, status: int) -> None:
    said = f"Wrong key {KEY}!\x1b[31m\n" + "and more " * 1000 + KEY
    body = json.dumps({"error": {"message": said}}).encode()
    with Provider(faults=[Page(status, body, "application/json")]) as server:
        error = failed(server, asked(), provider)

    shown = f"{error} {error.error} {error!r}"
    assert KEY not in shown
    assert "Wrong key [key]!" in shown
    assert len(error.error.message) < 700
    assert error.error.message.isprintable()


@pytest.mark.parametrize("provider", BOTH)
def test_a_page_is_shown_by_its_words(provider: str) -> None:
    with Provider(faults=[faults.html_page(200)]) as server:
        message = failed(server, asked(), provider).error.message

    assert 'an HTML page ("Unavailable Please come back later")' in message
    assert "<" not in message


@pytest.mark.parametrize("provider", BOTH)
def test_a_call_that_is_cancelled_ends_as_cancelled_and_frees_its_turn(provider: str) -> None:
    from tests.connectors.calling import made, told

    with Provider(faults=[faults.hang(), None]) as server:

        async def run() -> Reply | ProviderError:
            connector = made(settings(url_of(server, provider), provider, max_connections=1))
            first = asyncio.create_task(connector.complete(asked()))
            await asyncio.to_thread(server.wait, lambda seen: seen.in_flight == 1)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            second = await told(connector, asked("Still there?"))
            await connector.close()
            return second

        second = asyncio.run(run())

    assert isinstance(second, Reply), second
    assert second.text == "Still there?"


def test_the_hint_for_an_unknown_address_knows_what_its_api_has_for_a_root() -> None:
    with Provider() as server:
        (bare,) = calls(settings(server.root_url), asked())
        (doubled,) = calls(settings(server.base_url, ANTHROPIC), asked())

    assert isinstance(bare, ProviderError)
    assert f"{server.root_url}/v1" in bare.error.hint
    assert isinstance(doubled, ProviderError)
    assert 'Leave "/v1" out' in doubled.error.hint


@pytest.mark.parametrize("provider", BOTH)
def test_an_unknown_model_is_told_by_its_name(provider: str) -> None:
    with Provider() as server:
        error = failed(server, asked(), provider, model="no-such-model")

    assert error.error.code == "provider.not_found"
    assert "no-such-model" in error.error.message + error.error.hint
    assert error.is_final


Setting = Callable[[], None]


@pytest.mark.parametrize(
    "message",
    ["This model's maximum context length is 8192 tokens.", "max_tokens: 16000 is more than 8192, the model's most"],
)
@pytest.mark.parametrize("provider", BOTH)
def test_a_request_that_is_too_long_says_what_to_shorten(provider: str, message: str) -> None:
    with Provider(faults=[faults.bad_request(message)]) as server:
        error = failed(server, asked(), provider)

        assert error.error.code == "provider.bad_request"
        assert "--judge-max-tokens" in error.error.hint
        assert server.calls == 1


def test_the_two_connectors_are_named_in_their_errors() -> None:
    for provider in (OPENAI, ANTHROPIC):
        with Provider(faults=[faults.server_error()]) as server:
            assert failed(server, asked(), provider).error.message.startswith(provider)
