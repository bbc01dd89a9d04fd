"""Faults that come as a whole HTTP response: each as a plain client sees it, in both APIs' forms."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any

import pytest

from tests.providers import Provider, Reply, by_schema, faults, fixed, in_order, matching
from tests.providers.calling import SCHEMA, Got, chat, json_schema, message, text_of
from tests.providers.faults import Fault, Plan

Ask = Callable[[Provider], Got]
BOTH = pytest.mark.parametrize("ask", [chat, message])


def got_with(plan: Plan, ask: Ask = chat) -> Got:
    """The first response under a plan of faults."""
    with Provider(faults=plan) as provider:
        return ask(provider)


@pytest.mark.parametrize(
    ("fault", "status", "openai", "anthropic"),
    [
        (faults.rate_limited(), 429, "rate_limit_error", "rate_limit_error"),
        (faults.quota_exhausted(), 429, "insufficient_quota", "rate_limit_error"),
        (faults.server_error(), 500, "server_error", "api_error"),
        (faults.server_error(502), 502, "server_error", "api_error"),
        (faults.server_error(504), 504, "server_error", "timeout_error"),
        (faults.overloaded(), 529, "server_error", "overloaded_error"),
        (faults.unauthorized(), 401, "invalid_request_error", "authentication_error"),
        (faults.forbidden(), 403, "invalid_request_error", "permission_error"),
        (faults.not_found(), 404, "invalid_request_error", "not_found_error"),
        (faults.bad_request(), 400, "invalid_request_error", "invalid_request_error"),
    ],
)
def test_an_error_has_the_form_of_its_api(fault: Fault, status: int, openai: str, anthropic: str) -> None:
    with Provider(faults=faults.always(fault)) as provider:
        one, other = chat(provider), message(provider)
    assert (one.status, one.body["error"]["type"]) == (status, openai)
    assert (other.status, other.body["type"], other.body["error"]["type"]) == (status, "error", anthropic)


def test_an_exhausted_quota_is_told_from_a_rate_limit() -> None:
    with Provider(faults=faults.always(faults.quota_exhausted("credit_balance_exhausted"))) as provider:
        one, other = chat(provider), message(provider)
    assert (one.body["error"]["code"], one.headers["Retry-After"]) == ("credit_balance_exhausted", None)
    assert other.body["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}


@BOTH
def test_retry_after_comes_in_seconds_as_a_date_or_not_at_all(ask: Ask) -> None:
    plan = [
        faults.rate_limited(7),
        faults.rate_limited(0.5),
        faults.rate_limited(90, as_date=True),
        faults.rate_limited(),
    ]
    with Provider(faults=plan) as provider:
        told = [ask(provider).headers["Retry-After"] for _ in plan]
    assert (told[0], told[1], told[3]) == ("7", "0.5", None)
    wait = parsedate_to_datetime(told[2]) - datetime.now(UTC)
    assert 80 < wait.total_seconds() <= 90


@BOTH
@pytest.mark.parametrize("status", [200, 503])
def test_a_page_of_html_takes_the_place_of_the_answer(ask: Ask, status: int) -> None:
    got = got_with([faults.html_page(status)], ask)
    assert (got.status, got.headers.get_content_type()) == (status, "text/html")
    assert got.raw.startswith(b"<!doctype html>")


@BOTH
def test_a_body_may_be_empty(ask: Ask) -> None:
    got = got_with([faults.empty_body()], ask)
    assert (got.status, got.raw, got.headers["Content-Length"]) == (200, b"", "0")


@BOTH
def test_an_answer_may_say_nothing(ask: Ask) -> None:
    assert text_of(got_with([faults.empty_content()], ask)) == ""


def test_a_refusal_has_the_form_of_its_api() -> None:
    one, other = got_with([faults.refusal()], chat), got_with([faults.refusal()], message)
    choice = one.body["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "stop")
    assert choice["message"]["refusal"]
    assert (other.body["stop_reason"], other.body["stop_details"]["type"]) == ("refusal", "refusal")


def test_a_cut_text_says_that_it_was_cut() -> None:
    one, other = (got_with([faults.cut_text()], ask) for ask in (chat, message))
    assert (text_of(one), one.body["choices"][0]["finish_reason"]) == ("he", "length")
    assert (text_of(other), other.body["stop_reason"]) == ("he", "max_tokens")


def test_a_filtered_answer_is_told_by_its_finish() -> None:
    one, other = (got_with([faults.content_filter()], ask) for ask in (chat, message))
    assert (text_of(one), one.body["choices"][0]["finish_reason"]) == ("", "content_filter")
    assert (text_of(other), other.body["stop_reason"]) == ("", "refusal")


@pytest.mark.parametrize(("ask", "field"), [(chat, "choices"), (message, "content")])
def test_a_reply_may_lack_its_answer_or_its_usage(ask: Ask, field: str) -> None:
    whole = got_with([], ask).body
    assert whole.keys() - got_with([faults.missing_choices()], ask).body.keys() == {field}
    assert whole.keys() - got_with([faults.missing_usage()], ask).body.keys() == {"usage"}


@pytest.mark.parametrize(
    ("unsupported", "statuses"), [(["json_schema"], [400, 200, 200]), (["json_schema", "json_object"], [400, 400, 200])]
)
def test_a_format_may_be_unsupported_for_a_call(unsupported: list[str], statuses: list[int]) -> None:
    formats: list[Any] = [json_schema(SCHEMA), {"type": "json_object"}, {"type": "text"}]
    with Provider(faults=faults.always(faults.unsupported_format(*unsupported))) as provider:
        got = [chat(provider, "json", response_format=one) for one in formats]
    assert [one.status for one in got] == statuses


def test_a_delay_comes_before_the_answer_or_before_another_fault() -> None:
    with Provider(faults=[faults.delay(0.05), faults.delay(0.05, faults.server_error())]) as provider:
        began = monotonic()
        assert chat(provider).status == 200
        assert monotonic() - began >= 0.05
        assert chat(provider).status == 500
        assert monotonic() - began >= 0.1


def test_every_answer_takes_the_latency_of_the_server() -> None:
    with Provider(latency_s=0.05) as provider:
        began = monotonic()
        chat(provider)
        assert monotonic() - began >= 0.05


def test_a_list_of_faults_is_gone_through_in_order_and_then_all_goes_well() -> None:
    with Provider(faults=[None, faults.server_error(), faults.overloaded()]) as provider:
        assert [chat(provider).status for _ in range(5)] == [200, 500, 529, 200, 200]


def test_a_function_gives_the_fault_of_each_call_by_its_number() -> None:
    with Provider(faults=lambda number: faults.server_error() if number % 2 else None) as provider:
        assert [chat(provider).status for _ in range(4)] == [500, 200, 500, 200]


def test_a_fault_takes_no_reply_away_from_the_answer_function() -> None:
    with Provider(in_order("first"), faults=[faults.server_error()]) as provider:
        assert chat(provider).status == 500
        assert text_of(chat(provider)) == "first"


def test_a_prompt_may_bring_its_own_fault() -> None:
    replies: dict[str, Reply] = {
        "poison": faults.server_error(),
        "slow": faults.delay(0, faults.overloaded()),
        "plain": "fine",
    }
    with Provider(matching(replies, otherwise=by_schema)) as provider:
        got = [chat(provider, prompt) for prompt in ("a poison", "a slow one", "a plain one", "any")]
    assert [one.status for one in got] == [500, 529, 200, 200]
    assert [text_of(one) for one in got[2:]] == ["fine", "any"]


def test_a_wrong_key_is_told_before_any_fault() -> None:
    with Provider(fixed("x"), keys={"another"}, faults=[faults.server_error()]) as provider:
        assert chat(provider).status == 401
