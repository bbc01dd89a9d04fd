"""The adapter of DeepEval end to end: its own process and environment, the broker, a connector, a provider over HTTP.

That every metric scores as DeepEval does is tested in the adapter's environment; here is what only the kernel shows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi.evaluation import Result
from tests.providers import KEY, MODEL, Provider, Request

pytestmark = pytest.mark.slow

CHUNKS = ["The ferry sails at noon.", "Dogs travel free."]
RECORDS: list[dict[str, Any]] = [
    {
        "id": "noon",
        "input": "When does the ferry sail?",
        "output": "It sails at noon.",
        "context": CHUNKS,
        "trajectory": [{"type": "tool", "name": "timetable", "input": {"day": "Monday"}, "output": "12:00"}],
        "metadata": {"expected_tools": ["timetable", "fares"]},
    },
    {"id": "dusk", "input": "When does the ferry sail?", "output": "It sails at dusk.", "context": CHUNKS},
    {"id": "bare", "input": "When does the ferry sail?", "output": "It sails at noon."},
]
TURNS = {"ref": "deepeval/turn-faithfulness", "params": {"include_reason": True}}
GRADE = {"ref": "deepeval/g-eval", "params": {"criteria": "It names an hour.", "threshold": 0.5}}
EVALUATORS: list[Any] = ["deepeval/faithfulness", GRADE, "deepeval/tool-correctness", TURNS]


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One for all tests here, as the environment is built into it; no two tests ask the same."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        monkeypatch.setenv("JUDGE_KEY", KEY)
        yield


def reader(request: Request) -> Any:
    """A judge that says no to dusk, and a half of ten to what names an hour."""
    said = "dusk" if "dusk" in request.last_text else "noon"
    answers: dict[str, Any] = {
        "truths": CHUNKS,
        "claims": [f"The ferry sails at {said}."],
        "verdicts": [{"verdict": "no" if said == "dusk" else "yes", "reason": said}],
        "steps": ["Look for an hour."],
        "score": 2 if said == "dusk" else 8,
        "reason": said,
    }
    return {name: answers[name] for name in request.schema["properties"]}


def judged(provider: Provider, *evaluators: Any, data: Any = RECORDS) -> Result:
    model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
    return evalsi.evaluate(data, list(evaluators), judge=model, quiet=True)


def outcomes(result: Result) -> Mapping[tuple[str, str], dict[str, Any]]:
    return {(one["record_id"], one["evaluator"].removeprefix("deepeval/")): one for one in result.results}


def values(found: Mapping[tuple[str, str], dict[str, Any]], evaluator: str) -> list[Any]:
    return [
        found[record["id"], evaluator]["scores"][0]["value"] if found[record["id"], evaluator].get("scores") else None
        for record in RECORDS
    ]


def test_metrics_are_scored_through_the_kernel_and_a_second_run_costs_nothing() -> None:
    with Provider(reader) as provider:
        result = judged(provider, *EVALUATORS)
        calls = provider.calls
        again = judged(provider, *EVALUATORS)
        assert provider.calls == calls
    found = outcomes(result)
    assert values(found, "faithfulness") == [1.0, 0.0, None]
    assert values(found, "g-eval") == [0.8, 0.2, 0.8]
    assert values(found, "tool-correctness") == [0.5, None, None]
    assert values(found, "turn-faithfulness") == [1.0, 0.0, None]
    assert {one["outcome"] for one in result.results} == {"scored", "skipped"}
    assert found["dusk", "g-eval"]["scores"][1]["passed"] is False
    assert found["noon", "faithfulness"]["scores"][0]["metadata"]["replies"]
    assert [summary.mean for summary in again.summaries] == [summary.mean for summary in result.summaries]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_its_process_runs_in_an_environment_of_its_own_and_holds_no_key() -> None:
    seen: dict[str, bytes] = {}

    def looking(request: Request) -> Any:
        for task in Path("/proc/self/task").iterdir():
            for child in (task / "children").read_text().split():
                program = Path(f"/proc/{child}/cmdline").read_text("utf-8").partition("\0")[0]
                seen[program] = Path(f"/proc/{child}/environ").read_bytes()
        return reader(request)

    data = [{**RECORDS[0], "output": "It sails at noon, I think."}]
    with Provider(looking) as provider:
        assert judged(provider, "deepeval/faithfulness", data=data)["faithfulness"].mean == 1.0
    envs = Path(os.environ["EVALSI_CACHE_DIR"]) / "envs"
    (own,) = [variables for program, variables in seen.items() if envs in Path(program).parents]
    assert (b"PATH=" in own, KEY.encode() in own, b"JUDGE_KEY" in own) == (True, False, False)


@pytest.mark.parametrize(
    "answered",
    [{}, {"claims": ["x"], "truths": ["y"], "verdicts": [{"verdict": "maybe", "reason": "z"}]}, "Perfect."],
    ids=["nothing", "an unknown word", "words"],
)
def test_a_judge_that_answers_off_its_form_is_an_error_of_each_record(answered: Any) -> None:
    data = [{**record, "output": f"{record['output']} I am sure."} for record in RECORDS]
    with Provider(lambda _: answered) as provider:
        result = judged(provider, "deepeval/faithfulness", GRADE, data=data)
    found = {(one["outcome"], one.get("error", {}).get("code")) for one in result.results}
    assert found == {("error", "judge.unparsable"), ("skipped", None)}
