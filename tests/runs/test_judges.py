"""Runs with a judge: what it could not be asked about is for the next attempt, and no answer is paid for twice."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evalsi_kernel.broker.settings import BrokerSettings, ModelSettings
from tests.judging import graded
from tests.own_cache import own_cache
from tests.providers import KEY, MODEL, Answer, Provider, Request, faults
from tests.providers.sightings import Sightings
from tests.runs.running import executed, model_of, records, results, write_spec

COUNT = 100
HELD_FROM = 20
EVALUATORS: list[dict[str, Any]] = [{"ref": "exact-match"}, {"ref": "./graded.py:graded"}]


@pytest.fixture(autouse=True)
def _judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)
    shutil.copy(graded.__file__, tmp_path / "graded.py")


def models(vendor: Provider) -> BrokerSettings:
    judge = ModelSettings(MODEL, base_url=vendor.base_url, api_key_env="JUDGE_KEY", max_tokens=50, max_in_flight=4)
    return BrokerSettings({"primary": judge}, use_cache=False)


def durations(folder: Path) -> dict[str, float]:
    """How long each record's judgement took."""
    return {one["record_id"]: one["duration_ms"] for one in results(folder)["results"] if one["evaluator"] == "graded"}


class Both:
    """A vendor that is target and judge: each output is its own, so that each is judged by a question of its own."""

    def __init__(self) -> None:
        self.held_from = COUNT
        self.judged: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.most_judged = COUNT
        self.fault: faults.Fault = faults.unauthorized()

    def __call__(self, request: Request) -> Any:
        if request.schema is None:
            self.asked[request.prompt] += 1
            return faults.held() if sum(self.asked.values()) > self.held_from else request.last_text
        if sum(self.judged.values()) >= self.most_judged:
            return self.fault
        self.judged[request.prompt] += 1
        return Answer('{"score": 4}', input_tokens=60, output_tokens=40)


@contextmanager
def released(vendor: Provider, when: Callable[[Sightings], bool]) -> Iterator[None]:
    """Within the block, the vendor's held calls are answered as soon as it has seen something."""

    def release() -> None:
        vendor.wait(when)
        vendor.release()

    thread = Thread(target=release)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def check_whole(folder: Path, both: Both) -> None:
    """Everything is scored, and nothing was asked twice."""
    assert {one["outcome"] for one in results(folder)["results"]} == {"scored"}
    assert set(both.asked.values()) == set(both.judged.values()) == {1}
    assert len(both.asked) == len(both.judged) == COUNT


def test_a_judge_that_refuses_in_mid_run_stops_the_target_too_and_nothing_is_an_error_for_good(tmp_path: Path) -> None:
    both = Both()
    both.most_judged, both.held_from = 7, HELD_FROM
    with Provider(both) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=2), records(COUNT), evaluators=EVALUATORS)
        with released(vendor, lambda seen: seen.statuses[401] > 0):
            end = executed(tmp_path, models=models(vendor))
        assert end.state == "error"
        assert end.evaluation.error is not None
        assert end.evaluation.error.code == "provider.auth"
        assert end.done == 7
        assert sum(both.asked.values()) < COUNT
        assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored", "cancelled"}
        both.most_judged = both.held_from = COUNT
        end = executed(tmp_path, models=models(vendor))
    assert (end.state, end.kept) == ("succeeded", 7)
    check_whole(tmp_path, both)


def test_a_judge_s_budget_that_is_spent_in_mid_run_stops_the_target_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    both = Both()
    with Provider(both) as vendor:
        target = model_of(vendor, max_concurrency=2)
        budget = {"max_judge_tokens": 2_000}
        write_spec(tmp_path, target, records(COUNT), evaluators=EVALUATORS, budget=budget)
        end = executed(tmp_path, models=models(vendor))
        assert end.state == "error"
        assert end.evaluation.error is not None
        assert end.evaluation.error.code == "judge.budget"
        assert 0 < end.done < COUNT
        assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored", "cancelled"}
        again = executed(tmp_path, models=models(vendor))
        assert again.done < COUNT  # What the first attempt took is counted.
        write_spec(tmp_path, target, records(COUNT), evaluators=EVALUATORS, budget={"max_judge_tokens": 1_000_000})
        end = executed(tmp_path, models=models(vendor))
    assert end.state == "succeeded"
    check_whole(tmp_path, both)


FLAKY = '''
from pathlib import Path
from evalsi import Record, evaluator

@evaluator(name="flaky", version=1, needs=("output",))
def flaky(record: Record) -> bool:
    """Fails as long as a file is there."""
    if Path(__file__).with_name("broken").exists():
        raise RuntimeError("broken")
    return True
'''


def test_an_evaluator_that_failed_is_asked_again_and_the_judge_that_did_not_is_neither_asked_nor_forgotten(
    tmp_path: Path,
) -> None:
    both = Both()
    (tmp_path / "flaky.py").write_text(FLAKY)
    (tmp_path / "broken").touch()
    with Provider(both) as vendor:
        evaluators = [*EVALUATORS, {"ref": "./flaky.py:flaky"}]
        write_spec(tmp_path, model_of(vendor), records(COUNT), evaluators=evaluators)
        executed(tmp_path, models=models(vendor))
        took_ms = durations(tmp_path)
        assert len(took_ms) == COUNT
        assert Counter(one["outcome"] for one in results(tmp_path)["results"]) == {"scored": 2 * COUNT, "error": COUNT}
        (tmp_path / "broken").unlink()
        executed(tmp_path, models=models(vendor), retry_errors=True)
    check_whole(tmp_path, both)
    assert durations(tmp_path) == took_ms, "a judgement that stands took what it took"
    (judged,) = [one for one in results(tmp_path)["summaries"] if one["evaluator"] == "graded"]
    assert judged["judge"]["calls"] == COUNT
