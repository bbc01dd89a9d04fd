"""What a call of Anthropic's API asks for and what its reply tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalsi_connectors.messages_reply import message_tokens
from evalsi_connectors.messages_request import takes
from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Ask, Reply, Tokens
from tests.connectors.calling import ANTHROPIC, VERDICT, asked, calls, failed, replied, settings
from tests.providers import KEY, MODEL, Answer, Provider, Request, faults, fixed
from tests.providers.faults import Page

BOUNDED = {**VERDICT, "properties": {**VERDICT["properties"], "score": {"type": "integer", "minimum": 1, "maximum": 5}}}


def sent(ask: Ask, **server: Any) -> Request:
    with Provider(**server) as provider:
        replied(provider, ask, ANTHROPIC)
        return provider.requests[-1]


def message(**fields: Any) -> Page:
    body = {"id": "m-1", "type": "message", "model": "m", "content": [], "stop_reason": "end_turn", **fields}
    return Page(200, json.dumps(body).encode(), "application/json")


def test_system_messages_stand_apart_and_nothing_is_sent_that_is_not_set() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "So."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "But why?"},
    ]

    assert sent(Ask(messages, max_tokens=50)).body == {
        "model": MODEL,
        "max_tokens": 50,
        "system": "Be brief.\n\nBe kind.",
        "messages": [messages[1], messages[2], messages[4]],
    }


def test_the_key_comes_in_the_documented_header() -> None:
    headers = sent(asked()).headers

    assert headers["x-api-key"] == KEY
    assert "Authorization" not in headers
    assert headers["anthropic-version"]


def test_effort_and_temperature_are_sent_where_they_are_set() -> None:
    body = sent(asked(effort="low", temperature=0.0)).body

    assert (body["output_config"], body["temperature"]) == ({"effort": "low"}, 0.0)


def test_a_schema_is_asked_for_by_the_apis_own_means_beside_the_effort() -> None:
    config = sent(asked(schema=VERDICT, effort="low")).body["output_config"]

    assert config["effort"] == "low"
    assert config["format"]["type"] == "json_schema"
    assert config["format"]["schema"]["required"] == ["reason", "score"]


def test_what_the_api_cannot_hold_a_reply_to_stands_in_the_description() -> None:
    score = sent(asked(schema=BOUNDED)).schema["properties"]["score"]

    assert "maximum" not in score
    assert "maximum: 5" in score["description"]
    assert BOUNDED["properties"]["score"]["maximum"] == 5


def test_a_model_that_takes_no_schema_is_made_to_use_a_tool_whose_input_is_the_reply() -> None:
    with Provider(fixed('{"reason": "ö", "score": 3}'), formats={"text", "tool"}) as server:
        reply = replied(server, asked(schema=BOUNDED), ANTHROPIC)

        assert json.loads(reply.text) == {"reason": "ö", "score": 3}
        assert (reply.finish, reply.form) == ("stop", "json_object")
        assert server.requests[-1].schema == BOUNDED


def test_a_schema_that_has_no_form_there_goes_to_the_tool_at_once() -> None:
    schema = {**VERDICT, "properties": {"reason": {"type": ["string", "null"]}, "score": {}}}
    with Provider(fixed('{"reason": null, "score": 3}')) as server:
        assert not takes(schema)
        assert replied(server, asked(schema=schema), ANTHROPIC).form == "json_object"
        assert server.calls == 1


def test_a_seed_is_refused_before_any_call() -> None:
    with Provider() as server:
        error = failed(server, asked(seed=7), ANTHROPIC)

        assert error.error.code == "provider.unsupported"
        assert "does not take seed 7" in error.error.message
        assert "evaluator" in error.error.hint
        assert server.calls == 0


@pytest.mark.parametrize(
    ("said", "flag"),
    [
        ("temperature: this field is not permitted", "--judge-temperature"),
        ("output_config: this field is not permitted", "--judge-effort"),
        ("This model does not support the effort parameter.", "--judge-effort"),
        ("output_config.effort: Extra inputs are not permitted", "--judge-effort"),
    ],
)
def test_a_setting_that_the_model_does_not_take_is_an_error_that_names_its_flag(said: str, flag: str) -> None:
    with Provider(faults=[faults.bad_request(said)]) as server:
        error = failed(server, asked(temperature=0.5, effort="low", schema=VERDICT), ANTHROPIC)

        assert error.error.code == "provider.unsupported"
        assert flag in error.error.message
        assert server.calls == 1


def test_temperature_goes_out_with_the_version_of_the_api_that_knows_it_and_without_it_the_newest_does() -> None:
    assert sent(asked(temperature=0.5)).headers["anthropic-version"] == "2023-06-01"
    assert sent(asked()).headers["anthropic-version"] > "2023-06-01"


def test_an_effort_of_another_name_is_told_with_its_flag() -> None:
    with Provider() as server:
        error = failed(server, asked(effort="huge"), ANTHROPIC).error

    assert error.code == "provider.unsupported"
    assert "effort huge (--judge-effort)" in error.message


def test_the_prompt_is_told_whole_with_what_the_cache_read_and_wrote() -> None:
    answer = Answer(
        "Yes.", input_tokens=1000, output_tokens=80, cached_tokens=600, cache_write_tokens=300, reasoning_tokens=70
    )
    with Provider(fixed(answer)) as server:
        tokens = replied(server, asked(), ANTHROPIC).tokens

    assert tokens == Tokens(input=1000, output=80, cache_read=600, cache_write=300, reasoning=70)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, UNKNOWN_TOKENS),
        ({}, UNKNOWN_TOKENS),
        ({"input_tokens": 5, "output_tokens": 2}, Tokens(5, 2)),
        ({"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3}, Tokens(8, 2, 3)),
        ({"output_tokens": 2, "cache_read_input_tokens": 3}, Tokens(None, 2, 3)),
        ({"input_tokens": "5", "output_tokens": -2, "output_tokens_details": 4}, UNKNOWN_TOKENS),
    ],
)
def test_usage_is_read_for_what_it_tells(usage: object, tokens: Tokens) -> None:
    assert message_tokens(usage) == tokens


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("tool_use", "tool"),
        ("pause_turn", "other"),
        (None, "other"),
    ],
)
def test_how_a_reply_ended_is_told_in_five_words(said: object, finish: str) -> None:
    with Provider(faults=[message(stop_reason=said)]) as server:
        assert replied(server, asked(), ANTHROPIC).finish == finish


def test_the_text_is_that_of_the_text_blocks_alone() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": "Ye"},
        {"type": "text", "text": "s"},
    ]
    with Provider(faults=[message(content=content)]) as server:
        reply = replied(server, asked(), ANTHROPIC)

    assert (reply.text, reply.model, reply.provider_id, reply.form) == ("Yes", "m", "m-1", "text")


def test_a_refusal_is_told_as_one() -> None:
    with Provider(faults=[faults.refusal()]) as server:
        assert replied(server, asked(schema=VERDICT), ANTHROPIC).finish == "refusal"


@pytest.mark.parametrize("content", [None, "text", ["text"], [{"type": "text", "text": "\ud83d"}]])
def test_content_of_another_form_is_a_bad_reply(content: object) -> None:
    with Provider(faults=[message(content=content, usage={"input_tokens": 4, "output_tokens": 1})]) as server:
        error = failed(server, asked(), ANTHROPIC)

    assert error.error.code == "provider.bad_reply"
    assert error.tokens == Tokens(4, 1)


def test_the_sdk_makes_no_second_call_by_itself() -> None:
    with Provider(faults=faults.always(faults.server_error(503))) as server:
        failed(server, asked(), ANTHROPIC)

        assert server.calls == 1


@pytest.mark.parametrize(
    ("thinking", "sent_as"),
    [
        ({"mode": "adaptive"}, {"type": "adaptive"}),
        ({"mode": "disabled"}, {"type": "disabled"}),
        ({"mode": "enabled", "budget_tokens": 2048}, {"type": "enabled", "budget_tokens": 2048}),
    ],
)
def test_how_a_model_thinks_is_said_as_the_api_has_it(thinking: dict[str, Any], sent_as: dict[str, Any]) -> None:
    with Provider(fixed("said")) as provider:
        [reply] = calls(settings(provider.root_url, ANTHROPIC, options={"thinking": thinking}), asked())
        assert provider.requests[-1].body["thinking"] == sent_as
    assert isinstance(reply, Reply)
    assert reply.text == "said"
