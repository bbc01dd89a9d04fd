"""Batches in OpenAI's form: files in, polls, files out in another order, and what becomes of rows that fail."""

import http.client
import json
from typing import Any

import pytest

from tests.providers import Batching, Provider, faults, matching
from tests.providers.calling import Got, chat_body, send

BOUNDARY = "b0undary"


def upload(provider: Provider, data: bytes, *, name: str = "in.jsonl", purpose: str = "batch") -> Got:
    body = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n{purpose}\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: application/jsonl\r\n\r\n"
    ).encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()  # fmt: skip
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return send(provider.root_url, "/v1/files", body, headers=headers)


def rows(count: int, **fields: Any) -> bytes:
    lines = [
        {"custom_id": f"r{n}", "method": "POST", "url": "/v1/chat/completions", "body": chat_body(f"p{n}", **fields)}
        for n in range(count)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def create(provider: Provider, data: bytes) -> Any:
    asked = {
        "input_file_id": upload(provider, data).body["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {"run": "1"},
    }
    return send(provider.root_url, "/v1/batches", asked).body


def poll(provider: Provider, batch: Any) -> Any:
    return send(provider.root_url, f"/v1/batches/{batch['id']}").body


def polled(provider: Provider, batch: Any, times: int) -> Any:
    for _ in range(times):
        batch = poll(provider, batch)
    return batch


def lines(provider: Provider, file_id: str | None) -> list[Any]:
    assert file_id is not None
    got = send(provider.root_url, f"/v1/files/{file_id}/content")
    return [json.loads(line) for line in got.raw.splitlines()]


def test_a_batch_goes_from_validating_to_completed() -> None:
    with Provider(batching=Batching(polls=2)) as provider:
        batch = create(provider, rows(4))
        statuses = [batch["status"], *(poll(provider, batch)["status"] for _ in range(4))]
        ended = poll(provider, batch)
    assert statuses == ["validating", "in_progress", "finalizing", "completed", "completed"]
    assert (ended["error_file_id"], ended["metadata"]) == (None, {"run": "1"})
    assert ended["request_counts"] == {"total": 4, "completed": 4, "failed": 0}


def test_replies_come_in_another_order_and_are_joined_by_custom_id() -> None:
    with Provider() as provider:
        ended = polled(provider, create(provider, rows(5)), 2)
        found = lines(provider, ended["output_file_id"])
        again = lines(provider, ended["output_file_id"])
    assert [line["custom_id"] for line in found] != [f"r{n}" for n in range(5)]
    assert {line["custom_id"]: line["response"]["body"]["choices"][0]["message"]["content"] for line in found} == {
        f"r{n}": f"p{n}" for n in range(5)
    }
    assert {(line["response"]["status_code"], line["error"]) for line in found} == {(200, None)}
    assert again == found
    assert [row.custom_id for row in provider.rows] == [f"r{n}" for n in range(5)]
    assert provider.calls == 0


def test_rows_that_fail_stand_in_the_file_of_errors() -> None:
    with Provider(matching({"p1": faults.server_error(), "p2": faults.hang()})) as provider:
        data = rows(4).replace(b"my-judge", b"nobody", 1)
        ended = polled(provider, create(provider, data), 2)
        good, bad = lines(provider, ended["output_file_id"]), lines(provider, ended["error_file_id"])
    assert ended["status"] == "completed"
    assert ended["request_counts"] == {"total": 4, "completed": 1, "failed": 3}
    assert [line["custom_id"] for line in good] == ["r3"]
    assert {line["custom_id"]: line["response"]["status_code"] for line in bad} == {"r0": 404, "r1": 500, "r2": 500}
    assert all(line["response"]["body"]["error"]["message"] for line in bad)


def test_where_every_row_fails_there_is_no_file_of_replies() -> None:
    with Provider(lambda request: faults.server_error()) as provider:
        ended = polled(provider, create(provider, rows(2)), 2)
    assert (ended["status"], ended["output_file_id"]) == ("completed", None)


def test_rows_may_expire_be_lost_or_come_twice() -> None:
    conduct = Batching(expired={"r0"}, lost={"r1"}, doubled={"r2"})
    with Provider(batching=conduct) as provider:
        ended = polled(provider, create(provider, rows(4)), 2)
        good, bad = lines(provider, ended["output_file_id"]), lines(provider, ended["error_file_id"])
    assert ended["status"] == "expired"
    assert sorted(line["custom_id"] for line in good) == ["r2", "r2", "r3"]
    assert [(line["custom_id"], line["response"], line["error"]["code"]) for line in bad] == [
        ("r0", None, "batch_expired")
    ]


def test_a_canceled_batch_keeps_what_was_done() -> None:
    with Provider(batching=Batching(polls=3)) as provider:
        batch = polled(provider, create(provider, rows(4)), 2)
        canceling = send(provider.root_url, f"/v1/batches/{batch['id']}/cancel", {}).body
        ended = polled(provider, batch, 2)
        good, bad = lines(provider, ended["output_file_id"]), lines(provider, ended["error_file_id"])
    assert (canceling["status"], ended["status"]) == ("cancelling", "cancelled")
    assert sorted(line["custom_id"] for line in good) == ["r0", "r1"]
    assert {line["custom_id"]: line["error"]["code"] for line in bad} == {
        "r2": "batch_cancelled",
        "r3": "batch_cancelled",
    }


def test_a_batch_that_has_ended_is_not_canceled() -> None:
    with Provider() as provider:
        batch = polled(provider, create(provider, rows(1)), 2)
        assert send(provider.root_url, f"/v1/batches/{batch['id']}/cancel", {}).body["status"] == "completed"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", ("empty_file", None)),
        (rows(1) + b"{cut\n", ("invalid_json_line", 2)),
        (rows(1) + rows(1), ("duplicate_custom_id", 2)),
        (rows(1).replace(b"completions", b"answers"), ("url_mismatch", 1)),
    ],
)
def test_input_that_is_off_makes_the_batch_fail(data: bytes, error: tuple[str, int | None]) -> None:
    with Provider() as provider:
        batch = create(provider, data)
        failed = poll(provider, batch)
    assert (batch["status"], failed["status"], failed["output_file_id"]) == ("validating", "failed", None)
    assert [(one["code"], one["line"]) for one in failed["errors"]["data"]] == [error]


def test_a_batch_may_be_refused_as_a_whole() -> None:
    with Provider(batching=Batching(invalid="token_limit_exceeded")) as provider:
        failed = poll(provider, create(provider, rows(1)))
    assert (failed["status"], failed["errors"]["data"][0]["code"]) == ("failed", "token_limit_exceeded")


@pytest.mark.parametrize(
    ("field", "value"), [("endpoint", "/v1/judge"), ("completion_window", "1h"), ("input_file_id", "file-9")]
)
def test_a_batch_that_cannot_be_made_gives_400(field: str, value: str) -> None:
    with Provider() as provider:
        asked = {
            "input_file_id": upload(provider, rows(1)).body["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
        }
        got = send(provider.root_url, "/v1/batches", asked | {field: value})
    assert (got.status, got.body["error"]["param"]) == (400, field)


def test_a_file_for_a_batch_must_be_json_lines() -> None:
    with Provider() as provider:
        assert upload(provider, b"x", name="in.txt").status == 400
        assert send(provider.root_url, "/v1/files", {"purpose": "batch"}).status == 400


def test_what_does_not_exist_gives_404() -> None:
    with Provider() as provider:
        paths = ["/v1/batches/batch_9", "/v1/files/file-9", "/v1/files/file-9/content", "/v1/files/a/b/c"]
        assert [send(provider.root_url, path).status for path in paths] == [404] * 4


def test_batches_are_listed_the_newest_first() -> None:
    with Provider() as provider:
        names = [create(provider, rows(1))["id"] for _ in range(2)]
        listed = send(provider.root_url, "/v1/batches").body["data"]
    assert [batch["id"] for batch in listed] == names[::-1]


def test_requests_of_batches_have_a_plan_of_faults_of_their_own() -> None:
    plan = [None, faults.server_error(), faults.truncated_json(), faults.html_page(200)]
    with Provider(batch_faults=plan, faults=faults.always(faults.overloaded())) as provider:
        uploaded = upload(provider, rows(1))
        path = f"/v1/files/{uploaded.body['id']}"
        failed, cut, page, good = (send(provider.root_url, path) for _ in range(4))
    assert (failed.status, page.raw[:9]) == (500, b"<!doctype")
    assert cut.raw == good.raw[: len(good.raw) // 2]


def test_a_connection_that_breaks_does_so_when_the_batch_is_made() -> None:
    with Provider(batch_faults=[None, faults.close_before_answer()]) as provider:
        with pytest.raises(http.client.RemoteDisconnected):
            create(provider, rows(1))
        listed = send(provider.root_url, "/v1/batches").body["data"]
    assert [batch["id"] for batch in listed] == ["batch_1"]


def test_a_fault_of_an_answer_has_no_place_in_a_plan_for_batches() -> None:
    with pytest.raises(TypeError, match="have none"), Provider(batch_faults=[faults.refusal()]) as provider:
        assert upload(provider, rows(1)).status == 500


def test_embeddings_may_be_asked_for_in_a_batch() -> None:
    row = {"custom_id": "e", "method": "POST", "url": "/v1/embeddings", "body": {"model": "my-embedder", "input": "x"}}
    with Provider() as provider:
        asked = {"endpoint": "/v1/embeddings", "completion_window": "24h"}
        file_id = upload(provider, json.dumps(row).encode()).body["id"]
        batch = send(provider.root_url, "/v1/batches", asked | {"input_file_id": file_id}).body
        (line,) = lines(provider, polled(provider, batch, 2)["output_file_id"])
    assert len(line["response"]["body"]["data"]) == 1


def test_files_larger_than_a_megabyte_are_taken() -> None:
    with Provider() as provider:
        data = rows(1, metadata="x" * 2_000_000)
        assert upload(provider, data).body["bytes"] == len(data)
