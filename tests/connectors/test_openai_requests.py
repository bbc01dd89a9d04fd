"""What a call of an OpenAI-compatible server asks for: only what is set, in the form that the server takes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evalsi_connectors.address import read_address
from evalsi_connectors.dialect import Rung
from evalsi_connectors.openai_compatible import HOME, first_dialect
from evalsi_connectors.transport import Turns
from evalsi_connectors.who import Who
from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import ProviderError
from tests.connectors.calling import VERDICT, asked, at_once, calls, failed, replied, settings
from tests.connectors.raw_servers import said_raw
from tests.providers import KEY, MODEL, Provider, Request, faults

WHO = Who("openai-compatible", MODEL, read_address("http://localhost", ""), None)


def sent(ask: Ask, **server: Any) -> Request:
    with Provider(**server) as provider:
        replied(provider, ask)
        return provider.requests[-1]


def test_a_plain_ask_sends_its_messages_its_model_its_bound_and_nothing_else() -> None:
    ask = Ask([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why? 🦉"}], max_tokens=50)

    assert sent(ask).body == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why? 🦉"}],
        "max_tokens": 50,
    }


def test_temperature_seed_and_effort_are_sent_where_they_are_set_also_as_zero() -> None:
    body = sent(asked(temperature=0.0, seed=0, effort="low")).body

    assert (body["temperature"], body["seed"], body["reasoning_effort"]) == (0.0, 0, "low")


def test_the_key_comes_as_a_bearer_token() -> None:
    assert sent(asked()).headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_header_of_one_is_sent() -> None:
    with Provider(keys=None) as server:
        calls(settings(server.base_url, api_key_env="none"), asked())

        assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize("end", ["", "/"])
def test_the_address_is_taken_as_it_is_written_with_or_without_a_slash_at_its_end(end: str) -> None:
    with Provider() as server:
        (reply,) = calls(settings(server.base_url + end), asked())

        assert isinstance(reply, Reply)
        assert server.requests[0].path == "/v1/chat/completions"


def test_a_query_of_the_address_stays_behind_the_path() -> None:
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"
    with said_raw(answer) as url:
        (error,) = calls(settings(f"{url}?api-version=2026-01-01"), asked())

    assert isinstance(error, ProviderError)
    assert read_address("http://h/v1?api-version=1", "").url("/chat/completions") == (
        "http://h/v1/chat/completions?api-version=1"
    )


def test_a_schema_that_keeps_to_the_limits_is_sent_as_a_strict_one() -> None:
    wanted = sent(asked(schema=VERDICT)).body["response_format"]

    assert wanted == {"type": "json_schema", "json_schema": {"name": "reply", "schema": VERDICT, "strict": True}}


@pytest.mark.parametrize(
    "change",
    [{"required": ["score"]}, {"additionalProperties": True}, {"minProperties": 1}],
    ids=["optional", "open", "keyword"],
)
def test_a_schema_beyond_the_limits_is_sent_all_the_same_but_not_as_strict(change: dict[str, Any]) -> None:
    schema = {**VERDICT, **change}

    assert sent(asked(schema=schema)).body["response_format"]["json_schema"] == {"name": "reply", "schema": schema}


def test_openai_itself_is_asked_with_its_new_name_for_the_most_tokens_and_others_with_the_old_one() -> None:
    at_home = first_dialect(read_address(HOME.base_url, HOME.host))
    elsewhere = first_dialect(read_address("https://api.openai.com.example/v1", "api.openai.com"))

    assert at_home.way(VERDICT) == (Rung.STRICT, "max_completion_tokens")
    assert elsewhere.way(VERDICT) == (Rung.STRICT, "max_tokens")


def test_a_server_that_knows_only_the_new_name_gets_it_and_only_the_first_call_pays() -> None:
    with Provider(refused_parameters={"max_tokens"}) as server:
        first, second = calls(settings(server.base_url), asked(max_tokens=7), asked(max_tokens=8))

        assert isinstance(first, Reply)
        assert isinstance(second, Reply)
        assert [request.body.get("max_completion_tokens") for request in server.requests] == [None, 7, 8]


def test_a_server_that_knows_neither_name_is_asked_twice_and_its_refusal_is_the_error() -> None:
    with Provider(refused_parameters={"max_tokens", "max_completion_tokens"}) as server:
        error = failed(server, asked())

        assert error.error.code == "provider.bad_request"
        assert server.calls == 2


def test_a_bound_that_is_too_high_is_never_sent_again_under_a_name_that_may_be_ignored() -> None:
    said = "max_tokens is too large: 16000. This model does not support more than 4096."
    with Provider(faults=[faults.bad_request(said)]) as server:
        error = failed(server, asked())

        assert error.error.code == "provider.bad_request"
        assert server.calls == 1


@pytest.mark.parametrize(
    ("field", "value", "theirs"),
    [("temperature", 0.2, "temperature"), ("seed", 7, "seed"), ("effort", "low", "reasoning_effort")],
)
def test_a_setting_that_the_model_does_not_take_is_an_error_that_names_its_flag(
    field: str, value: Any, theirs: str
) -> None:
    with Provider(refused_parameters={theirs}) as server:
        error = failed(server, asked(**{field: value}))

        assert error.error.code == "provider.unsupported"
        assert error.error.retry == "no"
        assert f"{theirs} {value}" in error.error.message
        assert ("seed" if field == "seed" else f"--judge-{field}") in error.error.hint
        assert server.calls == 1


@pytest.mark.parametrize(
    "said",
    [
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported.",
        "temperature: Extra inputs are not permitted",
        "Unrecognized request argument supplied: temperature",
    ],
)
def test_servers_say_in_many_ways_that_a_setting_is_not_taken(said: str) -> None:
    with Provider(faults=[faults.bad_request(said)]) as server:
        assert failed(server, asked(temperature=0.2)).error.code == "provider.unsupported"


def test_a_value_that_is_off_is_a_bad_request_and_no_lack_of_support() -> None:
    with Provider(faults=[faults.bad_request("temperature must be between 0 and 2")]) as server:
        assert failed(server, asked(temperature=3.0)).error.code == "provider.bad_request"


def test_no_more_calls_are_in_flight_than_the_settings_allow() -> None:
    with Provider(latency_s=0.02) as server:
        replies = at_once(settings(server.base_url, max_connections=3), *[asked(str(n)) for n in range(12)])

        assert [reply.text for reply in replies if isinstance(reply, Reply)] == [str(n) for n in range(12)]
        assert server.most_in_flight <= 3


def test_waiting_for_a_turn_is_no_part_of_a_calls_time() -> None:
    async def at_once() -> str:
        return "done"

    async def run() -> list[str]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[str] = loop.create_future()
        loop.call_later(0.2, done.set_result, "done")

        async def long() -> str:
            return await done

        turns = Turns(settings("http://localhost", max_connections=1), WHO)
        return list(await asyncio.gather(turns.take(long, 60.0), turns.take(at_once, 0.01)))

    assert asyncio.run(run()) == ["done", "done"]
