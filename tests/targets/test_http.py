"""A service over HTTP as a target: what is sent, where the output is found, and how every fault is told."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Generated, Target
from tests.providers import Provider
from tests.targets.asking import ask, failure_of, output_of, problems, with_target
from tests.targets.service import BOUND_S, MIB, Service, serving

SECRET = "s3cret-of-tests"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture
def asked(service: Service, tmp_path: Path) -> Any:
    """The output for one record, of a path of the service."""
    return lambda path, text="hello", record=None, **options: output_of(
        "http", tmp_path, text, record, url=service.url + path, **options
    )


@pytest.fixture
def failing(service: Service, tmp_path: Path) -> Any:
    """How the call about one record fails, at a path of the service."""
    return lambda path, text="hello", record=None, **options: failure_of(
        "http", tmp_path, text, record, url=service.url + path, **options
    )


def test_the_input_is_sent_as_json_and_the_whole_reply_is_the_output_unless_told_otherwise(asked: Any) -> None:
    assert asked("/body", 'He said "hi" \\ \n') == {"input": 'He said "hi" \\ \n'}
    assert asked("/body?type=text/plain", "hello") == '{"input": "hello"}'
    assert asked("/body", {"json": {"a": [1]}}) == {"input": {"a": [1]}}


def test_a_template_is_filled_from_the_record(asked: Any) -> None:
    template = '{"message": "{{input}}", "tags": {{metadata.tags}}, "who": "user {{id}}"}'
    record = {"metadata": {"tags": ["a", 'b"']}}
    assert asked("/body", 'q"\n', record, body_template=template) == {
        "message": 'q"\n',
        "tags": ["a", 'b"'],
        "who": 'user of q"\n',
    }


def test_output_usage_and_steps_are_found_where_their_paths_say(service: Service, tmp_path: Path) -> None:
    made: Generated = with_target(
        "http",
        tmp_path,
        ask,
        url=f"{service.url}/echo",
        output_path="$.choices[0].text",
        usage_path="usage",
        trajectory_path="steps",
    )
    assert made.output == "first"
    assert (made.tokens.input, made.tokens.output, made.cost_usd) == (7, 3, 0.25)
    assert made.fields == {"trajectory": {"steps": [{"type": "tool", "name": "search"}]}}


def test_usage_that_is_not_told_is_unknown_and_never_nothing(service: Service, tmp_path: Path) -> None:
    url = f"{service.url}/echo"
    made: Generated = with_target("http", tmp_path, ask, url=url, output_path="reply", usage_path="cost.of")
    assert (made.tokens.input, made.tokens.output, made.cost_usd) == (None, None, None)


def test_a_record_in_an_address_is_encoded_and_get_sends_no_body(asked: Any) -> None:
    raw = asked("/echo/{{input}}?q={{input}}", "a/b?c&d+e %", method="GET", output_path="path")
    path, _, query = raw.partition("?")
    assert unquote(path.removeprefix("/echo/")) == "a/b?c&d+e %"
    assert parse_qs(query) == {"q": ["a/b?c&d+e %"]}
    assert path.count("/") == 2
    assert asked("/echo?q={{id}}", method="GET", output_path="reply") == "!"


def test_headers_are_sent_and_a_secret_one_is_seen_by_nobody_else(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_KEY", f"Bearer {SECRET}")
    how: dict[str, Any] = {"headers": {"X-Team": "qa"}, "headers_env": {"Authorization": "SERVICE_KEY"}}

    async def used(target: Target) -> tuple[Generated, str]:
        return await ask(target), json.dumps(dict(target.identity))

    made, identity = with_target("http", tmp_path, used, url=f"{service.url}/echo", output_path="headers", **how)
    assert made.output["X-Team"] == "qa"
    assert made.output["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in identity
    assert "Authorization" in identity
    refused = failure_of("http", tmp_path, url=f"{service.url}/status/401", **how)
    assert "no: " in refused.error.message
    assert SECRET not in refused.error.message


def test_a_variable_that_is_not_set_is_named_before_anything_is_asked(service: Service, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"spec.target.headers_env names NO_SUCH_KEY, which is not set") as caught:
        output_of("http", tmp_path, url=service.url, headers_env={"Authorization": "NO_SUCH_KEY"})
    assert caught.value.code == "config.no_key"


PASTED = "Bearer sk-proj-abc123"


@pytest.mark.parametrize(
    ("connector", "how"),
    [
        ("http", {"url": "http://localhost:1", "headers_env": {"Authorization": PASTED}}),
        ("responses", {"model": "m", "base_url": "http://localhost:1/v1", "api_key_env": PASTED}),
    ],
)
def test_a_secret_that_stands_where_its_variable_should_is_not_shown(
    connector: str, how: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="is no variable's name") as caught:
        output_of(connector, tmp_path, **how)
    assert PASTED not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "code", "retry", "is_final"),
    [
        (400, "provider.bad_request", "no", False),
        (401, "provider.auth", "no", True),
        (403, "provider.auth", "no", True),
        (404, "provider.not_found", "no", True),
        (405, "provider.not_found", "no", True),
        (408, "provider.failed", "later", False),
        (422, "provider.bad_request", "no", False),
        (429, "provider.rate_limited", "later", False),
        (500, "provider.failed", "later", False),
        (501, "provider.not_found", "no", True),
        (503, "provider.failed", "later", False),
    ],
)
def test_each_status_says_whether_to_go_on(failing: Any, status: int, code: str, retry: str, is_final: bool) -> None:
    error: ProviderError = failing(f"/status/{status}")
    assert (error.error.code, error.error.retry, error.is_final) == (code, retry, is_final)
    assert f"answered {status}" in error.error.message
    assert error.error.hint


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_asks_to_wait_is_heard(failing: Any, status: int) -> None:
    assert failing(f"/status/{status}?Retry-After=7").retry_after_s == 7.0
    assert failing(f"/status/{status}?Retry-After=Wed,+21+Oct+2015+07:28:00+GMT").retry_after_s == 0.0
    assert failing(f"/status/{status}?Retry-After=soon").retry_after_s is None


def test_a_redirect_is_not_followed_with_a_key_in_hand(failing: Any) -> None:
    error = failing("/status/302?Location=http://elsewhere.example/x")
    assert (error.error.code, error.is_final) == ("provider.not_found", True)
    assert "http://elsewhere.example/x (302)" in error.error.message


def test_a_page_instead_of_json_is_told_as_one(failing: Any) -> None:
    error = failing("/page", output_path="reply")
    assert (error.error.code, error.error.retry) == ("provider.bad_reply", "later")
    assert 'an HTML page ("Please sign in")' in error.error.message


def test_a_path_that_leads_nowhere_says_what_there_is(failing: Any) -> None:
    error = failing("/echo", output_path="answer.text")
    assert (error.error.code, error.error.retry) == ("target.output", "no")
    assert "without answer.text: the reply has reply, headers, path" in error.error.message
    assert "choices is a list of 1" in failing("/echo", output_path="choices[3].text").error.message
    assert "reply is a text" in failing("/echo", output_path="reply.text").error.message


def test_null_is_no_output_and_an_empty_text_is(asked: Any, failing: Any) -> None:
    assert failing("/echo", output_path="nothing").error.code == "target.output"
    assert asked("/body", body_template='{"reply": ""}', output_path="reply") == ""


def test_a_record_that_lacks_what_the_template_names_is_an_error_of_its_own(failing: Any) -> None:
    error = failing("/body", body_template='{"tags": {{metadata.tags}}}')
    assert (error.error.code, error.error.source, error.is_final) == ("target.input", "record", False)
    assert "The record has no metadata.tags" in error.error.message
    assert error.tokens.input == 0


def test_ten_megabytes_are_read(asked: Any) -> None:
    assert len(asked("/big/10", output_path="reply")) == 10 * MIB


def test_a_long_input_is_sent_whole(asked: Any) -> None:
    assert len(asked("/body", "x" * (3 * MIB), output_path="input")) == 3 * MIB


def test_an_answer_without_end_is_given_up_while_it_is_read(service: Service, failing: Any) -> None:
    error = failing("/endless")
    assert error.error.code == "target.output"
    assert "more than 32 MiB" in error.error.message
    assert service.endless_ended.wait(BOUND_S)
    assert service.endless_bytes < 100 * MIB


def test_a_few_bytes_that_unpack_to_many_are_given_up_too(failing: Any) -> None:
    assert "more than 32 MiB" in failing("/bomb").error.message


def test_one_that_does_not_answer_is_given_up_in_its_time(failing: Any) -> None:
    error = failing("/hang", timeout_s=0.05)
    assert (error.error.code, error.error.retry) == ("target.timeout", "later")
    assert "did not answer within 0.05 seconds" in error.error.message


@pytest.mark.parametrize(("path", "told"), [("/close", "without an answer"), ("/half", "in the middle of its answer")])
def test_a_connection_that_breaks_may_be_tried_again(failing: Any, path: str, told: str) -> None:
    error = failing(path)
    assert (error.error.code, error.error.retry) == ("provider.connection", "later")
    assert told in error.error.message


def test_nobody_there_is_told_with_the_address(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/agent"
        error = failure_of("http", tmp_path, url=url)
    assert error.error.code == "provider.connection"
    assert f"the service at {url} refused the connection" in error.error.message


def test_a_certificate_that_nobody_signed_is_not_trusted(tmp_path: Path) -> None:
    with Provider(tls=True) as vendor:
        error = failure_of("http", tmp_path, url=vendor.root_url)
    assert (error.error.code, error.is_final) == ("provider.tls", True)
    assert "cannot be trusted" in error.error.message


def test_tls_spoken_to_a_plain_server_is_told(service: Service, tmp_path: Path) -> None:
    error = failure_of("http", tmp_path, url=service.url.replace("http:", "https:"))
    assert (error.error.code, error.is_final) == ("provider.tls", True)
    assert "Write http://" in error.error.hint


def test_what_is_no_http_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        error = failure_of("http", tmp_path, url=f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()
    assert (error.error.code, error.error.retry) == ("provider.bad_reply", "later")
    assert "what is no HTTP" in error.error.message


def test_the_environment_s_proxy_is_used_but_for_hosts_that_need_none(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", service.url)
    how: dict[str, Any] = {"url": "http://agent.example/echo", "output_path": "headers.Host"}
    assert output_of("http", tmp_path, **how) == "agent.example"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert output_of("http", tmp_path, url=f"{service.url}/echo", output_path="headers.Host") in service.url
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(ConfigError, match="neither http:// nor https://"):
        output_of("http", tmp_path, **how)


def test_what_cannot_be_sent_or_read_as_text_is_told(asked: Any, failing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_KEY", "two\nlines")
    with pytest.raises(ConfigError, match=r"The value of X-Key in spec.target.headers_env cannot be sent"):
        asked("/body", headers_env={"X-Key": "SERVICE_KEY"})
    assert failing("/body?type=text/plain;charset=nonsense").error.code == "target.output"


def test_calls_are_made_at_once(service: Service, tmp_path: Path) -> None:
    async def used(target: Target) -> list[Any]:
        return [one.output for one in await asyncio.gather(*(ask(target, str(number)) for number in range(50)))]

    outputs = with_target(
        "http", tmp_path, used, at_once=50, url=f"{service.url}/echo", body_template="{{input}}", output_path="reply"
    )
    assert outputs == [f'"{number}"!' for number in range(50)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "ftp://x"}, "spec.target.url is"),
        ({"url": "http://u:p@x"}, "spec.target.url has a user name"),
        ({"url": "http://x/?api_key=1"}, "spec.target.url has a secret in it (api_key=…)"),
        ({"url": "http://{{input}}/"}, "spec.target.url lets a record say which host is asked"),
        ({"url": "http://x:{{input}}/"}, "spec.target.url"),
        ({"url": "http://x", "timeout_ms": 3}, 'spec.target.timeout_ms is not a known key. Did you mean "timeout_s"?'),
        ({"url": "http://x", "body_template": '{"m": {{input}'}, "spec.target.body_template is no JSON"),
        ({"url": "http://x", "body_template": '{"m": "{{inptu}}"}'}, 'Did you mean "input"?'),
        ({"url": "http://x", "body_template": '{"m": "{{question}}"}'}, "Write {{metadata.question}}"),
        ({"url": "http://x", "body_template": '{"m": "{{input[0]}}"}'}, "has {{input[0]}}, which is no place"),
        ({"url": "http://x", "output_path": "a..b"}, "spec.target.output_path is"),
        ({"url": "http://x", "headers": {"authorization": "x"}}, "headers_env: {authorization: MY_VARIABLE}"),
        ({"url": "http://x", "headers": {"a b": "x"}}, 'has "a b", which is no name of a header'),
        ({"url": "http://x", "headers": {"a": "x\ny"}}, "spec.target.headers.a must be one line"),
        ({"url": "http://x", "method": "GET"}, "spec.target asks every record the same"),
        ({"url": "http://x/{{id}}", "method": "GET", "body_template": "1"}, "GET sends no body"),
        ({}, "spec.target.url is missing"),
    ],
)
def test_what_is_wrong_with_its_keys_is_told_with_its_place(options: dict[str, Any], told: str) -> None:
    assert told in " ".join(problems("http", **options))
