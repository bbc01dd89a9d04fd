"""Targets that refuse, stall, say nothing or too much: each item ends as what it is, and nothing is asked in vain."""

from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker import model_client
from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.model_client import Spent
from evalsi_kernel.broker.retries import RetryPolicy
from evalsi_kernel.runs.answers import answered
from evalsi_kernel.target import Generated
from tests.providers import Answer, Provider, Request, faults, fixed, in_order
from tests.runs.running import executed, logged, model_of, records, results, write_spec

COUNT = 40
AT_ONCE = 8
TRIES = 5


@pytest.fixture(autouse=True)
def _quick_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_client, "RetryPolicy", lambda: RetryPolicy(max_tries=TRIES, base_s=0.01))


def kinds(folder: Path) -> Counter[str]:
    """How many of the outcomes of a run are what."""
    return Counter(one["outcome"] for one in results(folder)["results"])


def test_a_storm_of_refusals_costs_time_and_no_item(tmp_path: Path) -> None:
    with Provider(
        fixed("Lisbon"), faults=lambda call: faults.rate_limited(0) if call in {5, 6, 7, 21} else None
    ) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done) == ("succeeded", COUNT)
    assert kinds(tmp_path) == {"scored": COUNT}


def test_a_call_that_takes_too_long_is_tried_again_and_then_an_error_of_its_item_alone(tmp_path: Path) -> None:
    def answer(request: Request) -> str | faults.Fault:
        return faults.hang() if "Question 3?" in request.prompt else "Lisbon"

    with Provider(answer) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE, timeout_s=0.3), records(COUNT))
        end = executed(tmp_path)
        assert sum("Question 3?" in request.prompt for request in vendor.requests) == TRIES
    assert end.state == "succeeded"
    assert kinds(tmp_path) == {"scored": COUNT - 1, "error": 1}
    (error,) = [one for one in results(tmp_path)["results"] if one["outcome"] == "error"]
    assert (error["record_id"], error["error"]["code"]) == ("r3", "provider.timeout")


def test_an_answer_that_says_nothing_is_an_answer(tmp_path: Path) -> None:
    with Provider(fixed("")) as vendor:
        write_spec(tmp_path, model_of(vendor))
        executed(tmp_path)
    value = results(tmp_path)
    assert {record["output"] for record in value["records"]} == {""}
    assert [one["scores"][0]["passed"] for one in value["results"]] == [False] * 4


def test_g1_answers_that_were_cut_off_are_noted(tmp_path: Path) -> None:
    replies: list[Any] = [
        Answer("cut", finish="length"),
        Answer("No.", finish="refusal"),
        "whole",
        Answer("cut", finish="length"),
    ]
    with Provider(in_order(*replies)) as vendor:
        write_spec(tmp_path, model_of(vendor), records(4))
        end = executed(tmp_path)
    told = [str(one) for one in end.evaluation.findings]
    assert any(one.startswith("2 of 4 replies of the target were cut off.") for one in told)
    assert any(one.startswith("1 of 4 replies of the target was refused") for one in told)


def test_an_answer_of_ten_megabytes_is_scored_and_kept_whole(tmp_path: Path) -> None:
    text = "a long answer " * 750_000
    with Provider(fixed(text)) as vendor:
        write_spec(tmp_path, model_of(vendor, max_tokens=16_000_000), records(2))
        executed(tmp_path)
    value = results(tmp_path)
    assert {len(record["output"]) for record in value["records"]} == {len(text)}
    assert kinds(tmp_path) == {"scored": 2}


def test_an_answer_that_its_record_has_no_room_for_is_an_error_that_keeps_its_bill() -> None:
    spent = Spent(Tokens(5, 7), 0.25, 2)
    body = answered(Generated("x" * 3_000_000, Tokens(5, 7)), spent, 12.0, room_bytes=2_000_000)
    assert "it takes 3 MiB, more than its record has room for" in body["error"]["message"]
    assert (body["calls"], body["usage"]) == (2, {"input_tokens": 5, "output_tokens": 7, "cost_usd": 0.25})


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (Generated("a", metadata={"score": float("nan")}), "not finite"),
        (Generated({"json": {1: "a"}}), "not text"),
        (Generated("\ud800"), "U+D800"),
        (Generated("a", fields={"trajectory": "b"}), "trajectory"),
        (Generated("a", fields={"id": "b"}), "'id'"),
    ],
)
def test_an_answer_that_cannot_be_part_of_a_record_is_an_error(made: Generated, told: str) -> None:
    body = answered(made, Spent(calls=1), 12.0, room_bytes=1_000)
    assert body["error"]["code"] == "target.output"
    assert told in body["error"]["message"]


def test_an_address_where_nobody_answers_is_given_up_at_once_and_costs_no_item(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # Bound and not listening: every connection is refused.
        with Provider(fixed("Lisbon")) as vendor:
            dead = {
                **model_of(vendor, max_concurrency=AT_ONCE),
                "base_url": f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            }
            write_spec(tmp_path, dead, records(COUNT))
            end = executed(tmp_path)
    assert (end.state, end.done) == ("error", 0)
    assert end.evaluation.error is not None
    assert end.evaluation.error.code == "provider.connection"
    assert kinds(tmp_path) == {"cancelled": COUNT}


@pytest.mark.parametrize(
    "fault", [faults.unauthorized(), faults.forbidden(), faults.not_found()], ids=lambda one: str(one.status)
)
def test_a_target_that_refuses_in_mid_run_stops_all_calls_and_nothing_is_an_error_for_good(
    tmp_path: Path, fault: faults.Status
) -> None:
    refuses = [True]
    with Provider(fixed("Lisbon"), faults=lambda call: fault if refuses[0] and call > 10 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        end = executed(tmp_path)
        assert (end.state, end.done) == ("error", 10)
        assert vendor.calls <= 10 + AT_ONCE
        assert kinds(tmp_path) == {"scored": 10, "cancelled": COUNT - 10}
        refuses[0] = False
        before = vendor.calls
        end = executed(tmp_path)
        assert vendor.calls - before == COUNT - 10
    assert (end.state, end.kept, end.done) == ("succeeded", 10, COUNT)
    assert kinds(tmp_path) == {"scored": COUNT}


def test_what_failed_and_was_done_again_stays_in_the_bill(tmp_path: Path) -> None:
    fails = [True]

    def answer(request: Request) -> str | faults.Fault:
        return faults.bad_request() if fails[0] and "Question 1?" in request.prompt else "Lisbon"

    with Provider(answer) as vendor:
        write_spec(tmp_path, model_of(vendor))
        executed(tmp_path)
        fails[0] = False
        end = executed(tmp_path, retry_errors=True)
    assert end.state == "succeeded"
    assert not logged(tmp_path, 4).failed
    usage = results(tmp_path)["manifest"]["target_usage"]
    assert (usage["calls"], usage["failed"]) == (5, 1)
    assert usage["input_tokens"] > 0
