"""The run of the guide, as it stands there: its target and its judge are played on this machine, all else is real."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Done, evalsi
from tests.own_cache import own_cache
from tests.providers import KEY, Provider, Request

RUNS = Path(__file__).parents[2] / "examples" / "runs"
ANSWERS = {
    json.loads(line)["question"]: json.loads(line)["answer"]
    for line in (RUNS / "capitals.jsonl").read_text().splitlines()
}
JUDGE = ("--judge-provider", "anthropic", "--judge-model", "claude-opus-5-5")


def answer(request: Request) -> Any:
    """As the target the answer of the data, and as the judge that it is right."""
    if request.schema is None:
        return next(said for question, said in ANSWERS.items() if question in request.prompt)
    return {"reason": "It is the same city.", "score": 5}


def wrong(request: Request) -> Any:
    return answer(request) if request.schema is not None else "Atlantis"


def laid_out(folder: Path, target: str) -> None:
    """The example in a folder, its target at the vendor of the test."""
    shutil.copytree(RUNS, folder / "examples" / "runs")
    path = folder / "examples" / "runs" / "capitals.yaml"
    text = path.read_text()
    assert "connector: anthropic " in text
    path.write_text(text.replace("connector: anthropic ", f"{target} "))


def run(folder: Path, vendor: Provider, *words: str) -> Done:
    judge = ("--judge-base-url", vendor.root_url, "--judge-api-key-env", "ANTHROPIC_API_KEY")
    variables = {
        "ANTHROPIC_API_KEY": KEY,
        "EVALSI_CACHE_DIR": os.environ.get("EVALSI_CACHE_DIR") or own_cache(folder / "cache"),
    }
    path = Path("examples") / "runs" / "capitals.yaml"
    return evalsi("run", "-f", path, *JUDGE, *judge, *words, cwd=folder, variables=variables)


@pytest.mark.parametrize("connector", ["anthropic", "openai-compatible"])
def test_the_example_of_the_guide_runs_as_written(tmp_path: Path, connector: str) -> None:
    with Provider(answer, models=None) as vendor:
        url = vendor.root_url if connector == "anthropic" else vendor.base_url
        laid_out(tmp_path, f"connector: {connector}\n    base_url: {url}\n    api_key_env: ANTHROPIC_API_KEY")
        done = run(tmp_path, vendor, "--output", "results.json", "--format", "json")
        asked = [request for request in vendor.requests if request.schema is None]
        assert len(asked) == 3 * len(ANSWERS)
        assert {request.body["model"] for request in asked} == {"claude-opus-5-5"}
        assert all("Answer with the name of the city only." in request.raw.decode() for request in asked)
        assert all("1024" in request.raw.decode() and "low" in request.raw.decode() for request in asked)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["id"], told["state"], told["verdict"]) == ("capitals-1", "succeeded", "pass")
    value = json.loads((tmp_path / "results.json").read_text())
    manifest = value["manifest"]
    assert (manifest["name"], manifest["project"], manifest["trials"]) == ("capitals", "quickstart", 3)
    assert manifest["labels"] == {"evals.si/project": "quickstart"}
    metrics = {one["metric"]: one for one in value["summaries"]}
    assert {"exact-match", "exact-match.pass@3", "exact-match.pass^3", "llm-judge"} <= metrics.keys()
    assert metrics["exact-match"]["ci"]["level"] == 0.95
    assert [gate["verdict"] for gate in value["gates"]] == ["pass", "pass"]
    assert manifest["target_usage"]["calls"] == 3 * len(ANSWERS)


def test_a_model_that_is_wrong_fails_the_gates_of_the_guide_with_exit_code_three(tmp_path: Path) -> None:
    with Provider(wrong, models=None) as vendor:
        laid_out(tmp_path, f"connector: anthropic\n    base_url: {vendor.root_url}\n    api_key_env: ANTHROPIC_API_KEY")
        done = run(tmp_path, vendor)
    assert done.code == 3
    assert "capitals-1: failed, a gate failed; 24 done" in done.out
    assert done.out.count("FAIL") == 2


def test_a_key_that_is_missing_is_an_error_with_exit_code_one_before_anything_is_asked(tmp_path: Path) -> None:
    with Provider(answer, models=None) as vendor:
        laid_out(tmp_path, f"connector: anthropic\n    base_url: {vendor.root_url}\n    api_key_env: ANTHROPIC_API_KEY")
        path = Path("examples") / "runs" / "capitals.yaml"
        done = evalsi("run", "-f", path, *JUDGE, cwd=tmp_path, variables={"ANTHROPIC_API_KEY": ""})
        assert vendor.calls == 0
    assert done.code == 1
    assert "ANTHROPIC_API_KEY" in done.err
