"""How a structure is asked for: the best form that the server takes, found by the first call and remembered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from evalsi_connectors import dialect
from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import ProviderError
from tests.connectors.calling import (
    ANTHROPIC,
    BOTH,
    VERDICT,
    asked,
    at_once,
    calls,
    failed,
    made,
    replied,
    settings,
    told,
    url_of,
)
from tests.providers import Provider, faults
from tests.providers.faults import Fault, Status

NO_SCHEMA = frozenset({"text", "json_object", "tool"})
TEXT = frozenset({"text"})
OTHER: Mapping[str, Any] = {**VERDICT, "title": "Other"}


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a refusal may take its time."""
    monkeypatch.setattr(dialect, "PROBE_WAIT_S", 30.0)


def forms(replies: list[Reply | ProviderError]) -> list[str]:
    return [reply.form if isinstance(reply, Reply) else reply.error.code for reply in replies]


@pytest.mark.parametrize("provider", BOTH)
def test_a_server_that_takes_schemas_is_asked_with_one(provider: str) -> None:
    with Provider() as server:
        reply = replied(server, asked(schema=VERDICT), provider)

        assert reply.form == "json_schema"
        assert json.loads(reply.text) == {"reason": "", "score": 0}
        assert server.calls == 1


@pytest.mark.parametrize("provider", BOTH)
def test_a_server_that_knows_no_schemas_is_asked_in_a_weaker_form_and_only_the_first_call_pays(provider: str) -> None:
    with Provider(formats=NO_SCHEMA) as server:
        replies = calls(settings(url_of(server, provider), provider), *[asked(schema=VERDICT)] * 3)

        assert forms(replies) == ["json_object"] * 3
        assert server.calls == 4


@pytest.mark.parametrize("provider", BOTH)
def test_a_server_that_knows_only_text_is_asked_for_text_and_only_the_first_call_pays(provider: str) -> None:
    with Provider(formats=TEXT) as server:
        replies = calls(settings(url_of(server, provider), provider), *[asked(schema=VERDICT)] * 3)

        assert forms(replies) == ["text"] * 3
        assert server.calls == 5


@pytest.mark.parametrize("formats", [frozenset({"text", "json_object"}), TEXT])
def test_in_a_weaker_form_the_schema_stands_in_a_system_message_at_the_front(formats: frozenset[str]) -> None:
    ask = asked(schema=VERDICT)
    with Provider(formats=formats) as server:
        replied(server, ask)
        first, second = server.requests[-1].messages

    assert (first["role"], second) == ("system", {"role": "user", "content": "Grade this."})
    assert json.dumps(VERDICT) in first["content"]


def test_a_system_message_that_is_there_already_keeps_its_place_and_its_words() -> None:
    messages = [{"role": "system", "content": "You are strict."}, {"role": "user", "content": "Grade this."}]
    with Provider(formats=TEXT) as server:
        replied(server, Ask(messages, VERDICT))
        first, second = server.requests[-1].messages

    assert first["content"].startswith("You are strict.\n\n")
    assert json.dumps(VERDICT) in first["content"]
    assert second == messages[1]
    assert messages[0]["content"] == "You are strict."


def test_a_text_ask_says_nothing_of_what_a_schema_needs() -> None:
    with Provider(formats=TEXT) as server:
        calls(settings(server.base_url), asked(schema=VERDICT), asked("Hello."))

        assert server.requests[-1].body["messages"] == [{"role": "user", "content": "Hello."}]
        assert "response_format" not in server.requests[-1].body


@pytest.mark.usefixtures("_patient")
@pytest.mark.parametrize("provider", BOTH)
def test_many_calls_at_once_at_the_start_are_not_all_refused(provider: str) -> None:
    with Provider(formats=TEXT) as server:
        replies = at_once(settings(url_of(server, provider), provider), *[asked(schema=VERDICT)] * 20)

        assert forms(replies) == ["text"] * 20
        assert server.calls == 22


def test_while_the_first_call_is_at_work_others_go_ahead_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialect, "PROBE_WAIT_S", 0.05)
    with Provider(faults=[faults.held()]) as server:

        async def run() -> list[Reply | ProviderError]:
            connector = made(settings(server.base_url))
            first = asyncio.create_task(told(connector, asked("first", schema=VERDICT)))
            await asyncio.to_thread(server.wait, lambda seen: seen.calls == 1)
            second = await told(connector, asked("second", schema=VERDICT))
            assert not first.done()
            server.release()
            both = [await first, second]
            await connector.close()
            return both

        assert forms(asyncio.run(run())) == ["json_schema"] * 2


@pytest.mark.usefixtures("_patient")
def test_where_the_first_call_fails_for_another_reason_the_next_one_goes_ahead() -> None:
    plan = [faults.server_error(), faults.unsupported_format("json_schema")]
    with Provider(faults=plan) as server:
        replies = at_once(settings(server.base_url), *[asked(schema=VERDICT)] * 5)

        assert sorted(forms(replies)) == ["json_object"] * 4 + ["provider.failed"]
        assert server.calls == 6


def test_a_first_call_that_is_cancelled_lets_the_others_go() -> None:
    with Provider(faults=[faults.hang()]) as server:

        async def run() -> Reply | ProviderError:
            connector = made(settings(server.base_url))
            first = asyncio.create_task(connector.complete(asked(schema=VERDICT)))
            await asyncio.to_thread(server.wait, lambda seen: seen.calls == 1)
            second = asyncio.create_task(told(connector, asked(schema=VERDICT)))
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            reply = await second
            await connector.close()
            return reply

        assert forms([asyncio.run(run())]) == ["json_schema"]


REFUSALS: list[Fault] = [
    faults.bad_request("This response_format type is unavailable now"),
    faults.bad_request("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
    faults.bad_request("This model does not support response format `json_schema`."),
    Status(422, "Failed to deserialize the JSON body: response_format: unknown variant `json_schema`"),
    faults.bad_request("'response_format.type' must be 'json_object' or 'text'"),
    faults.bad_request("guided decoding is not enabled on this server"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_servers_say_in_many_ways_that_they_know_no_schemas(refusal: Fault) -> None:
    with Provider(faults=[refusal]) as server:
        replies = calls(settings(server.base_url), asked(schema=VERDICT), asked(schema=OTHER))

    assert forms(replies) == ["json_object", "json_object"]


@pytest.mark.parametrize(
    "said",
    [
        "Invalid schema for response_format 'reply': In context=(), 'default' is not permitted.",
        "response_format.json_schema.strict: Extra inputs are not permitted",
        "Failed to compile the grammar of the JSON schema",
    ],
)
def test_a_server_that_knows_schemas_but_not_this_one_is_asked_loosely_for_this_one_alone(said: str) -> None:
    with Provider(faults=[faults.bad_request(said)]) as server:
        calls(settings(server.base_url), asked(schema=VERDICT), asked(schema=OTHER), asked(schema=VERDICT))
        strict = [request.body["response_format"]["json_schema"].get("strict") for request in server.requests]

    assert strict == [True, None, True, None]


@pytest.mark.parametrize("provider", BOTH)
def test_a_refusal_of_something_else_changes_no_form(provider: str) -> None:
    with Provider(faults=[faults.bad_request("messages: the prompt is not allowed")]) as server:
        error, reply = calls(settings(url_of(server, provider), provider), *[asked(schema=VERDICT)] * 2)

        assert isinstance(error, ProviderError)
        assert error.error.code == "provider.bad_request"
        assert forms([reply]) == ["json_schema"]
        assert server.calls == 2


def test_a_server_that_refuses_every_form_is_asked_once_in_each() -> None:
    said = faults.always(faults.bad_request("response_format is not supported"))
    with Provider(faults=said) as server:
        error = failed(server, asked(schema=VERDICT))

        assert error.error.code == "provider.bad_request"
        assert server.calls == 3


def test_where_a_tool_cannot_be_forced_the_schema_is_asked_for_in_words() -> None:
    plan = [
        faults.bad_request("output_config: this field is not permitted"),
        faults.bad_request("tool_choice: no tool can be forced while the model thinks"),
    ]
    with Provider(faults=plan) as server:
        reply = replied(server, asked(schema=VERDICT), ANTHROPIC)

        assert reply.form == "text"
        assert json.dumps(VERDICT) in server.requests[-1].body["system"]


def test_a_pack_that_never_asks_with_the_same_schema_twice_fills_no_memory() -> None:
    server = dialect.Dialect(dialect.OLD_NAME)
    for number in range(5000):
        server.way({**VERDICT, "title": str(number)})

    assert len(server._of_schema) <= 1000
