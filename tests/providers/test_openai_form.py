"""Completions in OpenAI's form: what is answered, what it is said to cost, what is refused and how."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.providers import KEY, MODEL, Answer, Provider, count_tokens, fixed
from tests.providers.calling import SCHEMA, chat, chat_body, json_schema, send, text_of

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def test_without_a_schema_the_last_message_is_said_again(provider: Provider) -> None:
    assert text_of(chat(provider, "say this")) == "say this"


def test_with_a_schema_the_answer_satisfies_it(provider: Provider) -> None:
    got = chat(provider, response_format=json_schema(SCHEMA))
    assert json.loads(text_of(got)) == {"score": 0, "reason": ""}
    assert got.body["choices"][0]["finish_reason"] == "stop"


def test_with_json_object_the_answer_is_an_object(provider: Provider) -> None:
    got = chat(provider, "as json", response_format={"type": "json_object"})
    assert json.loads(text_of(got)) == {"echo": "as json"}


def test_json_object_needs_the_word_in_a_message(provider: Provider) -> None:
    got = chat(provider, "as an object", response_format={"type": "json_object"})
    assert (got.status, got.body["error"]["param"]) == (400, "messages")


def test_usage_is_counted_by_the_rule_of_the_server(provider: Provider) -> None:
    prompt = "twelve chars"
    assert chat(provider, prompt).body["usage"] == {
        "prompt_tokens": count_tokens(prompt),
        "completion_tokens": count_tokens(prompt),
        "total_tokens": 2 * count_tokens(prompt),
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_usage_and_model_are_said_as_the_answer_gives_them() -> None:
    answer = Answer("x", input_tokens=100, output_tokens=30, cached_tokens=64, reasoning_tokens=20, model="my-judge-1")
    with Provider(fixed(answer)) as provider:
        body = chat(provider).body
    assert body["model"] == "my-judge-1"
    assert (body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]) == (100, 30)
    assert body["usage"]["prompt_tokens_details"] == {"cached_tokens": 64}
    assert body["usage"]["completion_tokens_details"] == {"reasoning_tokens": 20}


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_an_answer_is_cut_at_the_tokens_that_are_allowed(provider: Provider, name: str) -> None:
    got = chat(provider, "abcdefghijkl", **{name: 2})
    assert text_of(got) == "abcdefgh"
    assert got.body["choices"][0]["finish_reason"] == "length"
    assert got.body["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize(
    ("header", "code"), [(None, None), ("Bearer wrong", "invalid_api_key"), (f"Basic {KEY}", "invalid_api_key")]
)
def test_a_key_that_is_missing_or_wrong_gives_401(provider: Provider, header: str | None, code: str | None) -> None:
    got = send(provider.root_url, CHAT, chat_body(), headers={"Authorization": header})
    assert got.status == 401
    assert (got.body["error"]["type"], got.body["error"]["code"]) == ("invalid_request_error", code)


def test_an_open_server_takes_any_key_and_any_model() -> None:
    with Provider(keys=None, models=None) as provider:
        got = send(provider.root_url, CHAT, chat_body(model="llama"), headers={"Authorization": None})
    assert (got.status, got.body["model"]) == (200, "llama")


def test_an_unknown_model_gives_404(provider: Provider) -> None:
    got = chat(provider, model="nobody")
    assert (got.status, got.body["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"model": MODEL}, "messages"),
        ({"model": MODEL, "messages": []}, "messages"),
        ({"model": MODEL, "messages": [{"role": "judge", "content": "x"}]}, "messages[0].role"),
        (chat_body(max_tokens=1, max_completion_tokens=1), None),
        (chat_body(stream_options={"include_usage": True}), "stream_options"),
        (chat_body(n=2), None),
        (chat_body(response_format={"type": "json_schema"}), "response_format.json_schema.name"),
        ([], None),
    ],
)
def test_a_request_that_is_off_gives_400_and_names_the_field(provider: Provider, body: Any, param: str | None) -> None:
    got = send(provider.root_url, CHAT, body)
    assert (got.status, got.body["error"]["param"]) == (400, param)


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "array"}, "root"),
        ({**SCHEMA, "additionalProperties": True}, "additionalProperties"),
        ({**SCHEMA, "required": ["score"]}, "'reason'"),
        ({**SCHEMA, "properties": {"score": {"type": "object"}, "reason": {}}}, "additionalProperties"),
    ],
)
def test_a_strict_schema_must_close_its_objects_and_require_all(provider: Provider, schema: Any, wrong: str) -> None:
    got = chat(provider, response_format=json_schema(schema))
    assert got.status == 400
    assert wrong in got.body["error"]["message"]
    assert chat(provider, response_format=json_schema(schema, strict=False)).status == 200


@pytest.mark.parametrize(
    ("formats", "statuses"), [({"text"}, [400, 400, 200]), ({"text", "json_object"}, [400, 200, 200])]
)
def test_a_server_may_know_fewer_formats(formats: set[str], statuses: list[int]) -> None:
    asked = [json_schema(SCHEMA), {"type": "json_object"}, {"type": "text"}]
    with Provider(formats=formats) as provider:
        got = [chat(provider, "json", response_format=one) for one in asked]
    assert [one.status for one in got] == statuses
    assert got[0].body["error"]["param"] == "response_format.type"


def test_a_server_may_refuse_parameters() -> None:
    with Provider(refused_parameters={"max_tokens"}) as provider:
        refused, taken = chat(provider, max_tokens=5), chat(provider, max_completion_tokens=5)
    assert (refused.status, taken.status) == (400, 200)
    assert (refused.body["error"]["code"], refused.body["error"]["param"]) == ("unsupported_parameter", "max_tokens")


def test_models_are_listed(provider: Provider) -> None:
    assert [row["id"] for row in send(provider.root_url, "/v1/models").body["data"]] == ["my-embedder", MODEL]


def test_any_other_path_gives_404(provider: Provider) -> None:
    assert send(provider.root_url, "/v1/v1/chat/completions", chat_body()).status == 404


def test_every_answer_carries_the_name_of_its_request(provider: Provider) -> None:
    first, second = chat(provider), chat(provider, model="nobody")
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert first.headers["x-request-id"].startswith("req_")
