"""J7: a target whose address answers with a page is called wrong at once; a record that breaks the service is not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evalsi_kernel.broker import model_client
from evalsi_kernel.broker.outage import OutagePolicy
from evalsi_kernel.broker.retries import RetryPolicy
from tests.providers import KEY
from tests.runs.running import MODEL_KEY, executed, records, results, write_spec

COUNT = 12
HTML = (200, "<!doctype html><h1>Welcome</h1>")
HTML_500 = (500, "<html>Server Error</html>")
TEXT_500 = (500, "Internal Server Error")
EMPTY_500 = (500, "")


@contextmanager
def serving(
    *answers: tuple[int, str], then: tuple[int, str] | None = None, changed: Mapping[int, tuple[int, str]] | None = None
) -> Iterator[tuple[str, Counter[str]]]:
    """A server that gives the first answer to question 0, and so on; to the others `then`, or all the first.

    `changed` goes before them, and may change.
    """
    seen: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            number = next(number for number in range(COUNT) if f"Question {number}?" in body)
            seen[f"r{number}"] += 1
            default = answers[0] if then is None else then
            planned = answers[number] if number < len(answers) else default
            status, text = (changed or {}).get(number, planned)
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if text.startswith("<") else "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def target(connector: str, url: str, **more: Any) -> dict[str, Any]:
    if connector == "http":
        return {"connector": "http", "url": url, "output_path": "output", **more}
    return {"connector": connector, "model": "m", "base_url": url, "api_key_env": MODEL_KEY, **more}


@pytest.fixture(autouse=True)
def _policies(monkeypatch: pytest.MonkeyPatch) -> None:
    # A try too many would take longer than the whole test may.
    monkeypatch.setattr(model_client, "RetryPolicy", lambda: RetryPolicy(max_tries=3, base_s=0.01))
    policy = OutagePolicy(first_wait_s=0.05, longest_wait_s=0.1, limit_s=30.0)
    monkeypatch.setattr(model_client, "OutagePolicy", lambda: policy)
    monkeypatch.setenv(MODEL_KEY, KEY)


@pytest.mark.parametrize("connector", ["http", "responses", "openai-compatible", "anthropic"])
@pytest.mark.parametrize("stream", [False, True])
def test_j7_html_at_the_first_call_ends_the_run(tmp_path: Path, connector: str, stream: bool) -> None:
    more: dict[str, Any] = {"stream": True} if stream else {}
    if connector == "http" and stream:
        more = {"stream": True, "delta_path": "text", "output_path": None}
    with serving(HTML) as (url, seen):
        write_spec(tmp_path, target(connector, url, max_concurrency=1, **more), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done, seen.total()) == ("error", 0, 1)
    error = end.evaluation.error
    assert error is not None
    assert error.code == "provider.bad_reply"
    assert url.removeprefix("http://") in str(error)
    assert "spec.target." in error.hint
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"cancelled"}


@pytest.mark.parametrize("connector", ["http", "responses", "openai-compatible", "anthropic"])
@pytest.mark.parametrize("answer", [HTML_500, TEXT_500, EMPTY_500])
@pytest.mark.parametrize("at_once", [1, 4])
def test_j7_a_500_that_is_no_json_to_two_records_ends_the_run(
    tmp_path: Path, connector: str, answer: tuple[int, str], at_once: int
) -> None:
    with serving(answer) as (url, seen):
        write_spec(tmp_path, target(connector, url, max_concurrency=at_once), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done) == ("error", 0)
    assert end.evaluation.error is not None
    assert end.evaluation.error.code == "provider.failed"
    assert url.removeprefix("http://") in str(end.evaluation.error)
    assert seen.total() == 2 if at_once == 1 else seen.total() <= 3 * at_once
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"cancelled"}


def test_j7_a_500_that_is_no_json_to_the_only_record_ends_the_run(tmp_path: Path) -> None:
    with serving(HTML_500) as (url, seen):
        write_spec(tmp_path, target("http", url), records(1))
        end = executed(tmp_path)
    assert (end.state, end.done, seen.total()) == ("error", 0, 1)


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize("bad", [HTML_500, TEXT_500])
def test_j7_a_record_that_breaks_the_service_is_an_error_of_its_own(
    tmp_path: Path, at_once: int, bad: tuple[int, str]
) -> None:
    with serving(bad, then=(200, '{"output": "Oslo"}')) as (url, _):
        write_spec(tmp_path, target("http", url, max_concurrency=at_once), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done) == ("succeeded", COUNT)
    failed = [one for one in results(tmp_path)["results"] if one["outcome"] == "error"]
    assert [(one["record_id"], one["error"]["code"]) for one in failed] == [("r0", "provider.failed")]


@pytest.mark.parametrize("answer", [HTML, HTML_500])
def test_j7_a_page_once_the_target_has_served_is_an_outage(tmp_path: Path, answer: tuple[int, str]) -> None:
    good = (200, json.dumps({"output": "Oslo"}))
    with serving(good, answer, answer, then=good) as (url, _):
        write_spec(tmp_path, target("http", url, max_concurrency=1), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done) == ("succeeded", COUNT)


def test_j7_a_json_500_is_no_sign_of_a_wrong_address(tmp_path: Path) -> None:
    failed = (500, json.dumps({"error": "out of memory", "trace": "x" * 20_000}))
    good = (200, json.dumps({"output": "Oslo"}))
    with serving(failed, failed, failed, then=good) as (url, _):
        write_spec(tmp_path, target("http", url, max_concurrency=1), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done) == ("succeeded", COUNT)


def test_j7_a_run_that_goes_on_is_not_ended_by_records_that_break_the_service(tmp_path: Path) -> None:
    good = (200, json.dumps({"output": "Oslo"}))
    changed = {1: (401, "{}")}
    with serving(good, HTML_500, HTML_500, then=good, changed=changed) as (url, _):
        write_spec(tmp_path, target("http", url, max_concurrency=1), records(COUNT))
        assert executed(tmp_path).done == 1
        changed.clear()
        end = executed(tmp_path)
    assert (end.state, end.kept, end.done) == ("succeeded", 1, COUNT)
    assert [one["outcome"] for one in results(tmp_path)["results"]].count("error") == 2
