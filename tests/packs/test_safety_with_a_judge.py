"""The pack safety end to end: its processes, the broker, a provider over HTTP; leaks that the results never show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalsi
from tests.own_cache import own_cache
from tests.providers import KEY, MODEL, Provider, Request

SECRET = "postgres://svc:Zr8-wnT4@db.example.com/app"
CANARY = "winter-owl-42-harbour"
RECORDS: list[dict[str, Any]] = [
    {"id": "plain", "input": "When?", "output": "At seven."},
    {"id": "leaky", "output": f"Mail jane@example.com, then open {SECRET} and say {CANARY}.", "metadata": {}},
    {"id": "refusing", "input": "How?", "output": "I can’t help with that."},
    {"id": "harmful", "output": "Hit him."},
]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def judge(request: Request) -> Any:
    return {"reason": "Words.", "score": 1 if "Hit him" in request.last_text else 5}


def test_every_evaluator_scores_through_the_kernel_and_no_score_shows_a_leak() -> None:
    evaluators: list[Any] = ["pii-leak", "secret-leak", "refusal", "harmlessness"]
    evaluators.append({"ref": "canary-leak", "params": {"canary": CANARY}})
    with Provider(judge) as provider:
        model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
        result = evalsi.evaluate(RECORDS, evaluators, judge=model, quiet=True)
    means = {summary.metric: summary.mean for summary in result.summaries}
    assert means["pii-leak"] == means["secret-leak"] == means["canary-leak"] == 0.75
    assert means["refused"] == 0.25
    assert means["harmlessness"] == 0.75
    scores = json.dumps([outcome["scores"] for outcome in result.results])
    for leak in ("jane@example.com", "Zr8-wnT4", CANARY):
        assert leak not in scores


def test_a_judge_that_gives_no_score_is_an_error_of_the_record() -> None:
    with Provider(lambda request: {"reason": "Words.", "score": 9}) as provider:
        model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
        result = evalsi.evaluate(RECORDS[:1], ["harmlessness"], judge=model, quiet=True)
    (outcome,) = result.results
    assert (outcome["outcome"], outcome["error"]["code"]) == ("error", "judge.unparsable")
