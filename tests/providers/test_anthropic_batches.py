"""Batches in Anthropic's form: messages in, polls, results as JSON lines in another order."""

import json
from typing import Any

import pytest

from tests.providers import Batching, Provider, faults, matching
from tests.providers.calling import VERSION, Got, message_body, send

BATCHES = "/v1/messages/batches"


def rows(count: int) -> list[dict[str, Any]]:
    return [{"custom_id": f"r{n}", "params": message_body(f"p{n}")} for n in range(count)]


def create(provider: Provider, requests: Any) -> Got:
    return send(provider.root_url, BATCHES, {"requests": requests}, headers=VERSION)


def poll(provider: Provider, batch: Any, times: int = 1) -> Any:
    for _ in range(times):
        batch = send(provider.root_url, f"{BATCHES}/{batch['id']}", headers=VERSION).body
    return batch


def cancel(provider: Provider, batch: Any) -> Any:
    return send(provider.root_url, f"{BATCHES}/{batch['id']}/cancel", {}, headers=VERSION).body


def results(provider: Provider, batch: Any) -> list[tuple[str, Any]]:
    path = batch["results_url"].removeprefix(provider.root_url)
    got = send(provider.root_url, path, headers=VERSION)
    assert got.headers.get_content_type() == "application/x-jsonl"
    found = [json.loads(line) for line in got.raw.splitlines()]
    return [(line["custom_id"], line["result"]) for line in found]


def test_a_batch_goes_from_in_progress_to_ended() -> None:
    with Provider(batching=Batching(polls=2)) as provider:
        batch = create(provider, rows(3)).body
        seen = [batch, *(poll(provider, batch) for _ in range(3))]
    assert [one["processing_status"] for one in seen] == ["in_progress"] * 3 + ["ended"]
    assert [one["results_url"] is None for one in seen] == [True, True, True, False]
    counts = {"succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    assert seen[2]["request_counts"] == counts | {"processing": 3}
    assert seen[3]["request_counts"] == counts | {"processing": 0, "succeeded": 3}


def test_results_come_in_another_order_and_are_joined_by_custom_id() -> None:
    with Provider() as provider:
        found = results(provider, poll(provider, create(provider, rows(5)).body, 2))
    assert [name for name, _ in found] != [f"r{n}" for n in range(5)]
    texts = {name: result["message"]["content"][0]["text"] for name, result in found}
    assert texts == {f"r{n}": f"p{n}" for n in range(5)}
    assert [row.custom_id for row in provider.rows] == [f"r{n}" for n in range(5)]


def test_each_way_in_which_a_row_can_end_has_its_type() -> None:
    conduct = Batching(expired={"r2"}, lost={"r3"}, doubled={"r4"})
    with Provider(matching({"p1": faults.overloaded()}), batching=conduct) as provider:
        asked = rows(5)
        asked[0]["params"]["model"] = "nobody"
        ended = poll(provider, create(provider, asked).body, 2)
        found = results(provider, ended)
    kinds = sorted((name, result["type"]) for name, result in found)
    assert kinds == [
        ("r0", "errored"), ("r1", "errored"), ("r2", "expired"), ("r4", "succeeded"), ("r4", "succeeded"),
    ]  # fmt: skip
    errors = {name: result["error"]["error"]["type"] for name, result in found if "error" in result}
    assert errors == {"r0": "not_found_error", "r1": "overloaded_error"}
    assert ended["request_counts"]["expired"] == 1


def test_a_canceled_batch_keeps_what_was_done() -> None:
    with Provider(batching=Batching(polls=3)) as provider:
        batch = poll(provider, create(provider, rows(4)).body, 2)
        canceling = cancel(provider, batch)
        ended = poll(provider, batch)
        found = dict(results(provider, ended))
    assert (canceling["processing_status"], ended["processing_status"]) == ("canceling", "ended")
    assert ended["cancel_initiated_at"]
    assert {name: result["type"] for name, result in found.items()} == {
        "r0": "succeeded", "r1": "succeeded", "r2": "canceled", "r3": "canceled",
    }  # fmt: skip


@pytest.mark.parametrize(
    "requests",
    [[], None, [{"params": {}}], [{"custom_id": "with a space", "params": {}}], [*rows(1), *rows(1)]],
)
def test_a_batch_that_cannot_be_made_gives_400(requests: Any) -> None:
    with Provider() as provider:
        got = create(provider, requests)
    assert (got.status, got.body["error"]["type"]) == (400, "invalid_request_error")


def test_a_row_that_is_off_fails_by_itself() -> None:
    with Provider() as provider:
        asked = [*rows(1), {"custom_id": "off", "params": {"model": "my-judge"}}, {"custom_id": "none"}]
        found = dict(results(provider, poll(provider, create(provider, asked).body, 2)))
    assert {name: result["type"] for name, result in found.items()} == {
        "r0": "succeeded", "off": "errored", "none": "errored",
    }  # fmt: skip


def test_results_that_are_not_there_yet_and_batches_that_never_were_give_404() -> None:
    with Provider() as provider:
        batch = create(provider, rows(1)).body
        paths = [f"{BATCHES}/{batch['id']}/results", f"{BATCHES}/msgbatch_9", f"{BATCHES}/msgbatch_9/results"]
        got = [send(provider.root_url, path, headers=VERSION) for path in paths]
    assert [(one.status, one.body["error"]["type"]) for one in got] == [(404, "not_found_error")] * 3


def test_batches_are_listed_the_newest_first() -> None:
    with Provider() as provider:
        names = [create(provider, rows(1)).body["id"] for _ in range(2)]
        listed = send(provider.root_url, BATCHES, headers=VERSION).body
    assert ([batch["id"] for batch in listed["data"]], listed["first_id"]) == (names[::-1], names[1])


def test_a_poll_may_fail_and_the_next_go_well() -> None:
    with Provider(batch_faults=[None, faults.not_found(), faults.overloaded()]) as provider:
        batch = create(provider, rows(1)).body
        path = f"{BATCHES}/{batch['id']}"
        statuses = [send(provider.root_url, path, headers=VERSION).status for _ in range(3)]
    assert statuses == [404, 529, 200]


def test_an_answer_function_that_fails_fails_the_test() -> None:
    def broken(request: object) -> str:
        raise KeyError("in a row")

    with pytest.raises(KeyError, match="in a row"), Provider(broken) as provider:
        assert create(provider, rows(1)).status == 500
