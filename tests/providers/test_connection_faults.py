"""Faults of the connection itself, as a plain client sees them: closed, stalled, cut off, of an unknown authority."""

import http.client
import json
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

import pytest

from tests.providers import KEY, Provider, faults
from tests.providers.calling import Got, chat, chat_body, message

SHORT_S = 0.2
Ask = Callable[[Provider], Got]
BOTH = pytest.mark.parametrize("ask", [chat, message])


@contextmanager
def waiting(provider: Provider) -> Iterator[socket.socket]:
    """A client whose call is being answered, until the context is left."""
    body = json.dumps(chat_body()).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"
    with socket.create_connection(("127.0.0.1", int(provider.root_url.rpartition(":")[2])), timeout=10) as client:
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        provider.wait(lambda seen: seen.in_flight == 1)
        yield client


@BOTH
def test_the_connection_closes_before_the_answer(ask: Ask) -> None:
    with Provider(faults=[faults.close_before_answer()]) as provider:
        with pytest.raises(http.client.RemoteDisconnected):
            ask(provider)
        assert ask(provider).status == 200


@BOTH
def test_the_connection_closes_in_the_middle_of_the_body(ask: Ask) -> None:
    with Provider(faults=[faults.close_mid_body()]) as provider:
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(provider)
        whole = ask(provider)
    assert caught.value.partial.startswith(b'{"id":')
    assert len(caught.value.partial) == len(whole.raw) // 2
    assert caught.value.expected == len(whole.raw) - len(caught.value.partial)


@BOTH
def test_json_may_be_cut_in_a_whole_body(ask: Ask) -> None:
    with Provider(faults=[faults.truncated_json()]) as provider:
        got = ask(provider)
    assert got.status == 200
    assert got.raw.startswith(b'{"id":')
    with pytest.raises(json.JSONDecodeError):
        _ = got.body


@pytest.mark.parametrize("fault", [faults.hang(), faults.stall_mid_body(), faults.held()])
def test_a_call_without_an_end_is_given_up_when_the_client_leaves(fault: faults.Fault) -> None:
    with Provider(faults=[fault]) as provider:
        with waiting(provider):
            pass
        provider.wait(lambda seen: seen.abandoned == 1)
        assert provider.seen.in_flight == 0
        assert chat(provider).status == 200


def test_a_client_of_a_call_that_hangs_runs_out_of_patience() -> None:
    with Provider(faults=[faults.hang()]) as provider, pytest.raises(TimeoutError):
        chat(provider, timeout_s=SHORT_S)


def test_half_of_the_body_has_come_when_it_stalls() -> None:
    with Provider(faults=[None, faults.stall_mid_body()]) as provider:
        whole, got = chat(provider).raw, b""
        with waiting(provider) as client:
            while len(got.partition(b"\r\n\r\n")[2]) < len(whole) // 2:
                got += client.recv(4096)
            client.settimeout(0.05)
            with pytest.raises(TimeoutError):
                client.recv(1)
    assert f"Content-Length: {len(whole)}\r\n".encode() in got


def test_the_server_stops_at_once_in_spite_of_a_call_that_hangs() -> None:
    with ExitStack() as later:
        with Provider(faults=[faults.hang()]) as provider:
            client = later.enter_context(waiting(provider))
            began = monotonic()
        assert monotonic() - began < 30
        assert client.recv(1) == b""


def models(provider: Provider, context: ssl.SSLContext) -> int:
    request = urllib.request.Request(f"{provider.base_url}/models", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request, timeout=10, context=context) as response:
        status: int = response.status
    return status


def test_a_certificate_is_signed_by_nobody_that_a_client_knows() -> None:
    with Provider(tls=True) as provider:
        with pytest.raises(urllib.error.URLError) as caught:
            models(provider, ssl.create_default_context())
        assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)
        trusting = ssl.create_default_context(cadata=provider.authority_pem.decode())
        assert models(provider, trusting) == 200
