"""G2: an outage of the target or of the judge pauses a run and costs no record; a record's own fault is its error."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker import model_client
from evalsi_kernel.broker.outage import OutagePolicy
from evalsi_kernel.broker.retries import RetryPolicy
from evalsi_kernel.broker.settings import BrokerSettings, ModelSettings
from evalsi_kernel.request import Listener
from tests.judging import graded
from tests.own_cache import own_cache
from tests.providers import KEY, MODEL, Answer, Provider, Request, faults, fixed
from tests.runs.running import executed, model_of, records, results, write_spec

COUNT = 40


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_client, "RetryPolicy", lambda: RetryPolicy(max_tries=4, base_s=0.01))
    limits(monkeypatch, 30.0)
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def limits(patch: pytest.MonkeyPatch, limit_s: float) -> None:
    policy = OutagePolicy(first_wait_s=0.05, longest_wait_s=0.1, limit_s=limit_s)
    patch.setattr(model_client, "OutagePolicy", lambda: policy)


class Dying:
    """A real server on one port that can be closed and opened again; it answers each question once it is up."""

    def __init__(self, dies_after: int) -> None:
        self.answered: Counter[str] = Counter()
        self._dies_after = dies_after
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.open()

    def open(self) -> None:
        dying = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
                with dying._lock:
                    if sum(dying.answered.values()) >= dying._dies_after:
                        threading.Thread(target=dying.close).start()
                        self.close_connection = True
                        return
                    dying.answered[question] += 1
                body = b'"Lisbon"'
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def come_back(self) -> None:
        self._dies_after = 1_000_000
        self.close()
        self.open()


@pytest.fixture
def dying() -> Iterator[Dying]:
    server = Dying(dies_after=11)
    yield server
    server.close()


def http_of(server: Dying, at_once: int) -> dict[str, Any]:
    return {"connector": "http", "url": f"http://127.0.0.1:{server.port}/", "max_concurrency": at_once}


def kinds(folder: Path) -> Counter[str]:
    return Counter(one["outcome"] for one in results(folder)["results"])


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_g2_a_server_that_dies_and_comes_back_pauses_the_run_and_costs_no_record(
    tmp_path: Path, dying: Dying, at_once: int
) -> None:
    told: list[str] = []

    def hear(note: str) -> None:
        told.append(note)
        if note.startswith("paused:"):
            dying.come_back()

    write_spec(tmp_path, http_of(dying, at_once), records(COUNT))
    end = executed(tmp_path, listener=Listener(on_note=hear))
    assert (end.state, end.done) == ("succeeded", COUNT)
    assert kinds(tmp_path) == {"scored": COUNT}
    assert [note.partition(" ")[0] for note in told] == ["paused:", "calls"]
    # Where all is asked already, one that was answered may be asked once more.
    assert sum(dying.answered.values()) <= COUNT + 1


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_g2_a_server_that_stays_away_stops_the_run_and_the_same_command_asks_what_is_open(
    tmp_path: Path, dying: Dying, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits(monkeypatch, 0.5)
    write_spec(tmp_path, http_of(dying, at_once), records(COUNT))
    end = executed(tmp_path)
    assert (end.state, end.done) == ("error", 11)
    assert end.evaluation.error is not None
    assert end.evaluation.error.code == "provider.connection"
    assert kinds(tmp_path) == {"scored": 11, "cancelled": COUNT - 11}
    dying.come_back()
    end = executed(tmp_path)
    assert (end.run_id, end.state, end.kept, end.done) == ("run-1", "succeeded", 11, COUNT)
    assert set(dying.answered.values()) == {1}


@pytest.mark.parametrize("fault", [faults.server_error(503), faults.close_before_answer(), faults.html_page()])
def test_g2_failures_of_every_call_are_no_error_of_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: faults.Fault
) -> None:
    limits(monkeypatch, 0.5)
    down = [True]
    with Provider(fixed("Lisbon"), faults=lambda call: fault if down[0] and call > 10 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=4), records(COUNT))
        end = executed(tmp_path)
        assert (end.state, end.done) == ("error", 10)
        assert kinds(tmp_path) == {"scored": 10, "cancelled": COUNT - 10}
        down[0] = False
        end = executed(tmp_path)
    assert (end.state, end.kept, end.done) == ("succeeded", 10, COUNT)


@pytest.mark.parametrize("at_once", [1, 3, 16])
@pytest.mark.parametrize("poison", [(3,), (0, 1, 2), (20, 21), (38, 39), (37, 38, 39)])
def test_g2_records_that_fail_while_others_are_served_are_errors_and_pause_nothing_for_long(
    tmp_path: Path, at_once: int, poison: tuple[int, ...]
) -> None:
    def answer(request: Request) -> str | faults.Fault:
        bad = any(f"Question {number}?" in request.prompt for number in poison)
        return faults.server_error(500) if bad else "Lisbon"

    with Provider(answer) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=at_once), records(COUNT))
        end = executed(tmp_path)
    assert (end.state, end.done) == ("succeeded", COUNT)
    value = results(tmp_path)
    assert {one["record_id"] for one in value["results"] if one["outcome"] == "error"} == {f"r{n}" for n in poison}
    assert kinds(tmp_path) == {"scored": COUNT - len(poison), "error": len(poison)}
    assert value["manifest"]["target_usage"]["calls"] == vendor.calls


@pytest.mark.parametrize("comes_back", [True, False])
def test_g2_an_outage_of_the_judge_leaves_its_outcomes_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comes_back: bool
) -> None:
    limits(monkeypatch, 30.0 if comes_back else 0.5)
    shutil.copy(graded.__file__, tmp_path / "graded.py")
    judged: Counter[str] = Counter()
    down = [False]
    told: list[str] = []

    def answer(request: Request) -> Any:
        if request.schema is None:
            return request.last_text
        down[0] = down[0] or len(judged) == 7
        if down[0]:
            return faults.server_error(503)
        judged[request.prompt] += 1
        return Answer('{"score": 4}', input_tokens=60, output_tokens=40)

    def hear(note: str) -> None:
        told.append(note)
        if comes_back and note.startswith("paused:"):
            judged["again"] += 1
            down[0] = False

    with Provider(answer) as vendor:
        judge = ModelSettings(MODEL, base_url=vendor.base_url, api_key_env="JUDGE_KEY", max_tokens=50, max_in_flight=4)
        models = BrokerSettings({"primary": judge}, use_cache=False)
        evaluators = [{"ref": "exact-match"}, {"ref": "./graded.py:graded"}]
        write_spec(tmp_path, model_of(vendor, max_concurrency=4), records(COUNT), evaluators=evaluators)
        end = executed(tmp_path, models=models, listener=Listener(on_note=hear))
        if not comes_back:
            assert (end.state, end.done) == ("error", 7)
            assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored", "cancelled"}
            judged["again"] += 1
            down[0] = False
            end = executed(tmp_path, models=models)
    assert (end.state, end.done) == ("succeeded", COUNT)
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored"}
    assert set(judged.values()) == {1}
    assert any(note.startswith("paused:") for note in told)
