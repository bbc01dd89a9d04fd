"""The adapter of RAGAS end to end: its own process and environment, the broker, a connector, a provider over HTTP.

That every metric scores as RAGAS does is tested in the adapter's environment; here is what only the kernel shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi.evaluation import Result
from tests.providers import EMBEDDER, KEY, MODEL, Provider, Request

pytestmark = pytest.mark.slow

RECORDS: list[dict[str, Any]] = [
    {
        "id": "noon",
        "input": "When does the ferry sail?",
        "output": "It sails at noon.",
        "reference": "It sails at noon.",
        "context": ["The ferry sails at noon.", "Dogs travel free."],
        "trajectory": [{"type": "tool", "name": "timetable", "input": {"day": "Monday"}, "output": "12:00"}],
        # A column of RAGAS' own name, which is metadata here.
        "reference_tool_calls": [{"name": "timetable", "args": {"day": "Monday"}}, {"name": "fares", "args": {}}],
    },
    {
        "id": "dusk",
        "input": "When does the ferry sail?",
        "output": "It sails at dusk.",
        "context": ["Dogs travel free."],
    },
    {"id": "bare", "input": "When does the ferry sail?", "output": "It sails at noon."},
]
EVALUATORS = ["ragas/faithfulness", "ragas/answer-relevancy", "ragas/answer-accuracy", "ragas/tool-call-f1"]


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests, as the environment that is built in it takes long."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(cache_folder))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def reader(request: Request) -> Any:
    """A judge that finds one statement, and supports it where it does not speak of dusk."""
    said = "dusk" if "at dusk" in request.last_text else "noon"
    names = set(request.schema["properties"])
    if names == {"question", "noncommittal"}:
        return {"question": "When does the ferry sail?", "noncommittal": 0}
    if names == {"rating"}:
        return {"rating": 4}
    if "verdict" in str(request.schema):
        return {"statements": [{"statement": said, "reason": said, "verdict": int(said == "noon")}]}
    return {"statements": [f"The ferry sails at {said}."]}


def judged(provider: Provider, *evaluators: str, cache: bool = False) -> Result:
    address = {"base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
    judge, embed = {"model": MODEL, **address}, {"model": EMBEDDER, **address}
    return evalsi.evaluate(RECORDS, list(evaluators), judge=judge, embed=embed, cache=cache, quiet=True)


def values(result: Result, evaluator: str) -> list[float | None]:
    found = {one["record_id"]: one for one in result.results if one["evaluator"].endswith(evaluator)}
    assert {one["outcome"] for one in found.values()} <= {"scored", "skipped"}, found
    return [
        found[record["id"]]["scores"][0]["value"] if found[record["id"]].get("scores") else None for record in RECORDS
    ]


def test_metrics_are_scored_through_the_kernel_and_a_second_run_costs_nothing() -> None:
    with Provider(reader) as provider:
        result = judged(provider, *EVALUATORS, cache=True)
        calls = provider.calls
        again = judged(provider, *EVALUATORS, cache=True)
        assert provider.calls == calls
    assert values(result, "faithfulness") == [1.0, 0.0, None]
    assert values(result, "answer-relevancy") == pytest.approx([1.0, 1.0, 1.0])
    assert values(result, "answer-accuracy") == [1.0, None, None]
    assert values(result, "tool-call-f1") == pytest.approx([2 / 3, None, None], abs=1e-4)
    assert [summary.mean for summary in again.summaries] == [summary.mean for summary in result.summaries]
    scored = next(one for one in result.results if one["evaluator"].endswith("faithfulness"))
    assert len(scored["scores"][0]["metadata"]["replies"]) == 2


@pytest.mark.parametrize(
    "answered", [{}, {"statements": "all"}, {"rating": 5}, "Perfect."], ids=["nothing", "no list", "off", "words"]
)
def test_a_judge_that_answers_off_its_form_is_an_error_of_each_record(answered: Any) -> None:
    with Provider(lambda _: answered) as provider:
        result = judged(provider, "ragas/faithfulness", "ragas/answer-accuracy")
    found = {(one["outcome"], one.get("error", {}).get("code")) for one in result.results}
    assert found == {("error", "judge.unparsable"), ("skipped", None)}


def test_a_verdict_too_few_is_asked_for_again_and_then_an_error() -> None:
    def forgetful(request: Request) -> Any:
        is_judging = "verdict" in str(request.schema)
        return {"statements": [] if is_judging else ["It sails.", "It sails at noon."]}

    with Provider(forgetful) as provider:
        result = judged(provider, "ragas/faithfulness")
        assert provider.calls == 2 * 3
    codes = [one.get("error", {}).get("code") for one in result.results]
    assert codes == ["judge.unparsable", "judge.unparsable", None]
