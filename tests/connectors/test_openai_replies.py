"""What a reply of an OpenAI-compatible server tells: its text as it came, how it ended, what it took where known."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from evalsi_connectors.chat_reply import tokens_of
from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Reply, Tokens
from tests.connectors.calling import VERDICT, asked, calls, failed, replied, settings
from tests.connectors.raw_servers import said_raw
from tests.providers import MODEL, Answer, Provider, faults, fixed
from tests.providers.faults import Page


def body(**choice: Any) -> Page:
    """A completion with one choice of these fields."""
    return Page(200, json.dumps({"id": "c-1", "model": "m", "choices": [choice]}).encode(), "application/json")


def reply_to(fault: Page) -> Reply:
    with Provider(faults=[fault]) as server:
        return replied(server, asked())


def test_a_reply_has_its_text_its_model_and_its_id() -> None:
    with Provider(fixed(Answer(' {"score": 5} \n', model="my-judge-2026-11"))) as server:
        reply = replied(server, asked(schema=VERDICT))

    assert reply.text == ' {"score": 5} \n'
    assert reply.model == "my-judge-2026-11"
    assert reply.provider_id == "chatcmpl-1"
    assert reply.finish == "stop"
    assert reply.form == "json_schema"


def test_the_prompt_is_told_whole_and_the_cached_part_as_a_part_of_it() -> None:
    answer = Answer("Yes.", input_tokens=1000, output_tokens=80, cached_tokens=600, reasoning_tokens=70)
    with Provider(fixed(answer)) as server:
        tokens = replied(server, asked()).tokens

    assert tokens == Tokens(input=1000, output=80, cache_read=600, cache_write=None, reasoning=70)


def test_tokens_that_are_not_told_are_unknown_and_never_nothing() -> None:
    with Provider(faults=[faults.missing_usage()]) as server:
        assert replied(server, asked()).tokens == UNKNOWN_TOKENS


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, UNKNOWN_TOKENS),
        ("many", UNKNOWN_TOKENS),
        ({}, UNKNOWN_TOKENS),
        ({"prompt_tokens": 5, "completion_tokens": None}, Tokens(input=5)),
        ({"prompt_tokens": -1, "completion_tokens": 2.5}, UNKNOWN_TOKENS),
        ({"prompt_tokens": True}, UNKNOWN_TOKENS),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, Tokens(5, 2)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}, Tokens(5, 2, 4)),
        # Reasoning beside the completion instead of in it: the total tells.
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Tokens(5, 12, reasoning=10),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 17}, Tokens(5, 12)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 12,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Tokens(5, 12, reasoning=10),
        ),
    ],
)
def test_usage_is_read_for_what_it_tells(usage: object, tokens: Tokens) -> None:
    assert tokens_of(usage) == tokens


def test_what_a_bad_reply_took_is_told_all_the_same() -> None:
    said = json.dumps({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}).encode()
    with Provider(faults=[Page(200, said, "application/json")]) as server:
        error = failed(server, asked())

    assert error.error.code == "provider.bad_reply"
    assert error.tokens == Tokens(9, 3)


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("tool_calls", "tool"),
        ("function_call", "tool"),
        ("abort", "other"),
        (None, "other"),
        (7, "other"),
    ],
)
def test_how_a_reply_ended_is_told_in_five_words(said: object, finish: str) -> None:
    assert reply_to(body(finish_reason=said, message={"content": "text"})).finish == finish


def test_a_refusal_has_the_models_words_and_is_told_as_one() -> None:
    with Provider(faults=[faults.refusal()]) as server:
        reply = replied(server, asked(schema=VERDICT))

    assert (reply.finish, reply.text) == ("refusal", "I will not help with this.")


def test_a_reply_that_the_filter_stopped_is_a_refusal() -> None:
    with Provider(faults=[faults.content_filter()]) as server:
        assert replied(server, asked()).finish == "refusal"


def test_a_reply_that_ran_out_of_tokens_is_told_as_cut() -> None:
    with Provider(fixed("x" * 400)) as server:
        assert replied(server, asked(max_tokens=10)).finish == "length"


def test_an_empty_reply_is_a_reply() -> None:
    with Provider(faults=[faults.empty_content()]) as server:
        assert replied(server, asked()).text == ""


def test_content_that_is_absent_reads_as_empty() -> None:
    assert reply_to(body(finish_reason="length", message={"content": None})) == Reply(
        "", "length", model="m", provider_id="c-1"
    )


def test_content_in_parts_is_the_text_of_its_parts() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Ye"}, {"type": "text", "text": "s"}]

    assert reply_to(body(finish_reason="stop", message={"content": parts})).text == "Yes"


@pytest.mark.parametrize("content", [5, {"text": "Yes"}, "\ud83d"], ids=["number", "object", "half a pair"])
def test_content_that_is_no_text_is_a_bad_reply(content: object) -> None:
    with Provider(faults=[body(finish_reason="stop", message={"content": content})]) as server:
        assert failed(server, asked()).error.code == "provider.bad_reply"


@pytest.mark.parametrize("choices", [None, {}, ["text"], [{}], [{"message": None}], [{"message": "hello"}]])
def test_choices_of_another_form_are_a_bad_reply(choices: object) -> None:
    page = Page(200, json.dumps({"choices": choices}).encode(), "application/json")
    with Provider(faults=[page]) as server:
        assert failed(server, asked()).error.code == "provider.bad_reply"


def test_names_of_another_form_are_left_empty() -> None:
    said = {"id": 7, "model": None, "choices": [{"finish_reason": "stop", "message": {"content": "Yes"}}]}
    with Provider(faults=[Page(200, json.dumps(said).encode(), "application/json")]) as server:
        reply = replied(server, asked())

    assert (reply.model, reply.provider_id) == ("", "")


@pytest.mark.parametrize("proxy", [False, True], ids=["directly", "where a proxy is named"])
def test_an_id_or_a_model_that_cannot_be_written_down_is_not_told(proxy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if proxy:
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:1")
    # Half a surrogate pair has no UTF-8, nor has a header of any bytes.
    said = json.dumps({"model": "\ud800", "choices": [{"message": {"content": "Yes."}}]}).encode()
    head = b"HTTP/1.1 200 OK\r\nX-Request-Id: \xff\r\nContent-Length: %d\r\n\r\n" % len(said)
    with said_raw(head + said) as url:
        (reply,) = calls(settings(url), asked())

    assert isinstance(reply, Reply), reply
    assert reply.model == ""
    (reply.model + reply.provider_id).encode()


def test_the_model_that_is_told_need_not_be_the_one_that_was_asked() -> None:
    with Provider() as server:
        assert replied(server, asked()).model == MODEL


@pytest.mark.parametrize("proxy", [False, True], ids=["directly", "where a proxy is named"])
def test_a_compressed_reply_is_read_as_any_other(proxy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if proxy:
        # For another scheme, so that it stands in nobody's way; but only the whole client knows proxies.
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:1")
    packed = gzip.compress(json.dumps({"choices": [{"message": {"content": "Small."}}]}).encode())
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(packed)}\r\nContent-Encoding: gzip\r\n\r\n".encode()
    with said_raw(head + packed) as url:
        (reply,) = calls(settings(url), asked())

    assert isinstance(reply, Reply), reply
    assert reply.text == "Small."
