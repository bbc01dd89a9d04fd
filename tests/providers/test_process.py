"""The server as a process of its own."""

import os
import signal
import subprocess
import sys

import pytest

from tests.providers.calling import SCHEMA, VERSION, chat_body, json_schema, message_body, send
from tests.providers.process import ROOT, running


def test_it_prints_its_base_url_answers_and_tells_what_it_saw() -> None:
    with running("--latency-ms", "1", "--reply", "fine") as server:
        assert server.base_url.endswith("/v1")
        path = "/v1/chat/completions"
        got = send(server.base_url, path, chat_body())
        assert got.body["choices"][0]["message"]["content"] == "fine"
        assert send(server.base_url, path, chat_body(model="nobody")).status == 404
        counts = send(server.base_url, "/seen").body
    assert (counts["calls"], counts["statuses"]) == (2, {"200": 1, "404": 1})
    with pytest.raises(ConnectionRefusedError):
        send(server.base_url, path, chat_body())


def test_its_keys_models_and_limits_are_flags() -> None:
    with running("--api", "anthropic", "--key", "k", "--any-model", "--per-second", "1") as server:
        assert not server.base_url.endswith("/v1")
        headers = VERSION | {"Authorization": "Bearer k"}
        body = message_body(model="m")
        got = [send(server.base_url, "/v1/messages", body, headers=headers).status for _ in range(20)]
        assert send(server.base_url, "/v1/models", headers=VERSION).status == 401
    assert (got[0], set(got)) == (200, {200, 429})


def test_it_answers_by_the_schema_unless_a_reply_is_given() -> None:
    with running("--any-key") as server:
        body = chat_body(response_format=json_schema(SCHEMA))
        got = send(server.base_url, "/v1/chat/completions", body, headers={"Authorization": None})
    assert got.body["choices"][0]["message"]["content"] == '{"score": 0, "reason": ""}'


def test_an_interrupt_ends_it_without_a_traceback() -> None:
    command = [sys.executable, "-m", "tests.providers"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


def test_a_server_that_does_not_start_is_told() -> None:
    with pytest.raises(RuntimeError, match="did not start; exit code 2"), running("--port", "any"):
        pass
