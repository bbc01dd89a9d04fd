"""An answer in pieces is the one that comes whole; one that ends too early is a failure, never a short text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_connectors.chat_stream import chat_of_stream
from evalsi_connectors.messages_stream import message_of_stream
from evalsi_connectors.openai_compatible import HOME
from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Reply
from evalsi_kernel.broker.connector import ProviderError
from tests.connectors.calling import ANTHROPIC, BOTH, OPENAI, asked, at_once, calls, settings, url_of
from tests.providers import MODEL, Answer, Provider, faults, fixed
from tests.providers.faults import Page
from tests.providers.streams import EVENTS, anthropic_stream, openai_stream

WHO = HOME.who(settings("http://localhost:1/v1", api_key_env="none"))
TEXT = 'Häuser — "naïve" \u2028 and\nlines 🎈'


def brought(server: Provider, connector: str, **options: Any) -> list[Reply | ProviderError]:
    wanted = settings(url_of(server, connector), connector, options={"stream": True, **options})
    return calls(wanted, asked())


def page(*events: Any, end: bool = True) -> Page:
    told = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events]
    return Page(200, "".join([*told, "data: [DONE]\n\n" if end else ""]).encode(), EVENTS)


@pytest.mark.parametrize("connector", BOTH)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(TEXT, input_tokens=90, output_tokens=12, cached_tokens=20, reasoning_tokens=5, model="m-2"),
        Answer("", output_tokens=0),
        Answer("half", finish="length"),
        Answer("I would rather not.", finish="refusal"),
    ],
)
def test_the_reply_is_the_one_that_comes_whole(connector: str, answer: Answer) -> None:
    with Provider(fixed(answer)) as server:
        [streamed] = brought(server, connector)
        [whole] = calls(settings(url_of(server, connector), connector), asked())
        assert [request.field("stream") for request in server.requests] == [True, None]
    assert isinstance(streamed, Reply)
    assert isinstance(whole, Reply)
    assert streamed._replace(provider_id="") == whole._replace(provider_id="")


@pytest.mark.parametrize("connector", BOTH)
@pytest.mark.parametrize(
    "cut", [faults.truncated_json(), faults.close_mid_body(), faults.close_before_answer()], ids=lambda cut: cut.how
)
def test_a_stream_that_ends_too_early_brings_no_text_and_may_be_asked_again(connector: str, cut: Any) -> None:
    with Provider(fixed("a text that is long enough to be cut"), faults=[cut]) as server:
        [error] = brought(server, connector)
    assert isinstance(error, ProviderError)
    assert (error.error.code, error.error.retry) == ("provider.connection", "later")


@pytest.mark.parametrize("connector", BOTH)
def test_a_refusal_before_the_stream_is_the_error_that_it_always_is(connector: str) -> None:
    plan = [faults.rate_limited(3), faults.unauthorized(), faults.html_page(200)]
    with Provider(fixed("x"), faults=plan) as server:
        wanted = settings(url_of(server, connector), connector, options={"stream": True})
        limited, denied, html = calls(wanted, *[asked()] * 3)
    assert isinstance(limited, ProviderError)
    assert (limited.error.code, limited.retry_after_s) == ("provider.rate_limited", 3)
    assert isinstance(denied, ProviderError)
    assert (denied.error.code, denied.is_final) == ("provider.auth", True)
    assert isinstance(html, ProviderError)
    assert html.error.code == "provider.bad_reply"


@pytest.mark.parametrize("connector", BOTH)
def test_a_server_that_does_not_stream_is_heard_all_the_same(connector: str) -> None:
    openai = {"id": "c", "model": "m", "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    anthropic = {"id": "m", "model": "m", "content": [{"type": "text", "text": "whole"}], "stop_reason": "end_turn"}
    body = json.dumps(openai if connector == OPENAI else anthropic).encode()
    with Provider(fixed(Page(200, body, "application/json"))) as server:
        [reply] = brought(server, connector)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ("whole", "stop")


@pytest.mark.parametrize(
    ("connector", "events", "code"),
    [
        (OPENAI, [{"choices": [{"delta": {"content": "ha"}}]}, {"error": {"message": "Boom", "code": 502}}], "failed"),
        (OPENAI, [{"choices": [{"delta": {"content": "ha"}, "error": {"code": 429}}]}], "rate_limited"),
        (OPENAI, ["no JSON"], "bad_reply"),
        (OPENAI, ["[1]"], "bad_reply"),
        (ANTHROPIC, [{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}], "bad_reply"),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_an_error(connector: str, events: list[Any], code: str) -> None:
    with Provider(fixed(page(*events))) as server:
        [error] = brought(server, connector)
    assert isinstance(error, ProviderError)
    assert error.error.code == f"provider.{code}"


def test_the_usage_is_asked_for_and_unknown_where_a_server_does_not_know_how_to_tell_it() -> None:
    with Provider(fixed("hello"), refused_parameters={"stream_options"}) as server:
        wanted = settings(server.base_url, options={"stream": True})
        replies = at_once(wanted, *[asked()] * 4)
        options = [request.field("stream_options") for request in server.requests]
    assert all(isinstance(reply, Reply) and reply.text == "hello" for reply in replies)
    assert all(isinstance(reply, Reply) and reply.tokens == UNKNOWN_TOKENS for reply in replies)
    assert options[0] == {"include_usage": True}
    assert options.count({"include_usage": True}) < len(options)


def test_what_a_model_thinks_is_no_part_of_what_it_says() -> None:
    with Provider(fixed("said"), models=None) as server:
        [reply] = brought(server, ANTHROPIC, thinking={"mode": "adaptive"})
    assert isinstance(reply, Reply)
    assert reply.text == "said"


def completion(text: str) -> dict[str, Any]:
    choice = {"message": {"content": text, "refusal": None}, "finish_reason": "stop"}
    return {"id": "c", "created": 1, "model": MODEL, "choices": [choice]}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(text=TEXTS, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text_comes_through_however_lines_end(text: str, end: str) -> None:
    stream = openai_stream(completion(text), tells_usage=False).replace(b"\n", end.encode())
    assert chat_of_stream(stream, WHO)["choices"][0]["message"]["content"] == text
    message = {"id": "m", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    stream = anthropic_stream(message).replace(b"\n", end.encode())
    assert message_of_stream(stream, WHO)["content"] == [{"type": "text", "text": text}]


@given(text=TEXTS.filter(bool), share=st.floats(0, 1, exclude_max=True))
def test_however_short_a_stream_is_cut_no_part_of_its_text_passes_for_the_whole(text: str, share: float) -> None:
    stream = openai_stream(completion(text), tells_usage=False)
    try:
        found = chat_of_stream(stream[: int(len(stream) * share)], WHO)
    except ProviderError:
        return
    assert found["choices"][0]["message"]["content"] == text
