"""Messages in Anthropic's form: what is answered, what it is said to cost, what is refused and how."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.providers import KEY, MODEL, Answer, Provider, fixed
from tests.providers.calling import SCHEMA, VERSION, message, message_body, send, text_of

TOOL = {"name": "verdict", "input_schema": SCHEMA}
FORCED = {"type": "tool", "name": "verdict"}
ADAPTIVE = {"type": "adaptive"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def structured(schema: Any) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


def test_without_a_schema_the_last_message_is_said_again(provider: Provider) -> None:
    got = message(provider, "say this", system="be brief")
    assert text_of(got) == "say this"
    assert (got.body["type"], got.body["role"], got.body["stop_reason"]) == ("message", "assistant", "end_turn")


def test_structured_output_satisfies_its_schema(provider: Provider) -> None:
    got = message(provider, output_config=structured(SCHEMA) | {"effort": "low"})
    assert json.loads(text_of(got)) == {"score": 0, "reason": ""}


def test_a_forced_tool_gets_input_that_satisfies_its_schema(provider: Provider) -> None:
    got = message(provider, tools=[TOOL], tool_choice=FORCED)
    (block,) = got.body["content"]
    assert (block["type"], block["name"], block["input"]) == ("tool_use", "verdict", {"score": 0, "reason": ""})
    assert got.body["stop_reason"] == "tool_use"


def test_an_answer_that_is_no_object_comes_as_text_in_spite_of_the_tool() -> None:
    with Provider(fixed("I would rather talk")) as provider:
        got = message(provider, tools=[TOOL], tool_choice=FORCED)
    assert text_of(got) == "I would rather talk"
    assert got.body["stop_reason"] == "end_turn"


def test_a_model_that_thinks_sends_a_block_of_thinking_first(provider: Provider) -> None:
    got = message(provider, thinking=ADAPTIVE)
    assert [block["type"] for block in got.body["content"]] == ["thinking", "text"]


def test_usage_leaves_cached_tokens_out_of_the_input() -> None:
    answer = Answer(
        "x", input_tokens=100, output_tokens=30, cached_tokens=64, cache_write_tokens=16, reasoning_tokens=9
    )
    with Provider(fixed(answer)) as provider:
        usage = message(provider).body["usage"]
    assert usage == {
        "input_tokens": 20,
        "cache_creation_input_tokens": 16,
        "cache_read_input_tokens": 64,
        "output_tokens": 30,
        "output_tokens_details": {"thinking_tokens": 9},
    }


def test_an_answer_is_cut_at_max_tokens(provider: Provider) -> None:
    got = message(provider, "abcdefghijkl", max_tokens=2)
    assert (text_of(got), got.body["stop_reason"]) == ("abcdefgh", "max_tokens")


@pytest.mark.parametrize("headers", [{"x-api-key": KEY, "Authorization": None}, {"Authorization": f"Bearer {KEY}"}])
def test_the_key_comes_in_either_header(provider: Provider, headers: dict[str, str | None]) -> None:
    assert send(provider.root_url, "/v1/messages", message_body(), headers=VERSION | headers).status == 200


@pytest.mark.parametrize("headers", [{"Authorization": None}, {"x-api-key": "wrong", "Authorization": None}])
def test_a_key_that_is_missing_or_wrong_gives_401(provider: Provider, headers: dict[str, str | None]) -> None:
    got = send(provider.root_url, "/v1/messages", message_body(), headers=VERSION | headers)
    assert (got.status, got.body["type"], got.body["error"]["type"]) == (401, "error", "authentication_error")
    assert got.body["request_id"] == got.headers["request-id"]


@pytest.mark.parametrize("version", [None, "2020-01-01"])
def test_a_version_of_the_api_must_be_named(provider: Provider, version: str | None) -> None:
    got = send(provider.root_url, "/v1/messages", message_body(), headers={"anthropic-version": version})
    assert got.status == 400
    assert "anthropic-version" in got.body["error"]["message"]


def test_the_newer_version_takes_no_sampling_parameters(provider: Provider) -> None:
    newer = {"anthropic-version": "2026-10-21"}
    body = message_body(temperature=1)
    assert send(provider.root_url, "/v1/messages", body, headers=VERSION).status == 200
    got = send(provider.root_url, "/v1/messages", body, headers=newer)
    assert got.status == 400
    assert "temperature" in got.body["error"]["message"]


def test_an_unknown_model_gives_404(provider: Provider) -> None:
    got = message(provider, model="nobody")
    assert (got.status, got.body["error"]["type"]) == (404, "not_found_error")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"model": 1}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "{"}]}, "messages"),
        ({"seed": 1}, "seed"),
        ({"temperature": 1.5}, "temperature"),
        ({"stream": "yes"}, "stream"),
        ({"output_config": {"effort": "extreme"}}, "output_config.effort"),
        ({"thinking": {"type": "deep"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": 100}}, "thinking.budget_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9000}}, "thinking.budget_tokens"),
        ({"thinking": ADAPTIVE, "temperature": 0}, "temperature"),
        ({"thinking": ADAPTIVE, "tools": [TOOL], "tool_choice": FORCED}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}}, "tool_choice.name"),
        ({"tools": [{"name": "verdict"}]}, "tools.0"),
    ],
)
def test_a_request_that_is_off_gives_400_and_names_the_field(
    provider: Provider, fields: dict[str, Any], named: str
) -> None:
    got = message(provider, **fields)
    assert (got.status, got.body["error"]["type"]) == (400, "invalid_request_error")
    assert got.body["error"]["message"].startswith(f"{named}:")


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ({"type": "integer", "minimum": 1}, "'minimum'"),
        ({"type": "string", "maxLength": 9}, "'maxLength'"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "minItems"),
        ({"type": "object", "properties": {}}, "additionalProperties"),
    ],
)
def test_structured_output_knows_no_bounds_and_no_open_objects(
    provider: Provider, part: dict[str, Any], wrong: str
) -> None:
    schema = {**SCHEMA, "properties": {"score": part, "reason": {"type": "string"}}}
    got = message(provider, output_config=structured(schema))
    assert got.status == 400
    assert wrong in got.body["error"]["message"]


def test_a_property_may_be_named_like_a_bound(provider: Provider) -> None:
    schema = {**SCHEMA, "properties": {"minimum": {"type": "integer"}}, "required": ["minimum"]}
    assert json.loads(text_of(message(provider, output_config=structured(schema)))) == {"minimum": 0}


def test_a_server_may_know_no_structured_output() -> None:
    with Provider(formats={"text", "tool"}) as provider:
        refused = message(provider, output_config=structured(SCHEMA))
        taken = message(provider, tools=[TOOL], tool_choice=FORCED)
    assert (refused.status, taken.status) == (400, 200)


def test_models_are_listed(provider: Provider) -> None:
    body = send(provider.root_url, "/v1/models", headers=VERSION).body
    assert [(row["id"], row["type"]) for row in body["data"]] == [("my-embedder", "model"), (MODEL, "model")]
