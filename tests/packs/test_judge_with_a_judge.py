"""The pack judge end to end: its process, the broker, a connector, and a provider over HTTP that reads only words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi.evaluation import Result
from tests.own_cache import own_cache
from tests.providers import KEY, MODEL, Provider, Request, faults

PLANTED_FILE = Path(__file__).parents[2] / "plugins/packs/judge/src/evalsi_pack_judge/planted.jsonl"
PLANTED = [json.loads(line) for line in PLANTED_FILE.read_text("utf-8").splitlines()]
RECORDS = [
    {"id": "near", "input": "When?", "output": "At seven.", "reference": "seven", "metadata": {"baseline": "Soon."}},
    {"id": "far", "input": "When?", "output": "Soon.", "reference": "seven", "metadata": {"baseline": "At seven."}},
    {"id": "none", "input": "When?", "output": "At seven."},
]
CRITERIA = ["It says seven.", {"name": "polite", "text": "It says please.", "weight": 3}]
ANY = frozenset({"text", "json_object", "json_schema", "tool"})


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def blocks(request: Request) -> dict[str, str]:
    """The texts that the question shows, by the names of their blocks."""
    code = re.findall(r"^Code: (\w+)$", request.last_text, re.MULTILINE)[0]
    return dict(re.findall(rf"<(\w+) {code}>\n(.*?)\n</\1 {code}>", request.last_text, re.DOTALL))


def reader(request: Request) -> Any:
    """A judge that looks for the word "seven"."""
    texts, asked = blocks(request), set(request.schema["properties"])
    if asked == {"reason", "score"}:
        return {"reason": "Words.", "score": 4 if "seven" in texts["answer"] else 1}
    if asked == {"reason", "met"}:
        wanted = "seven" if "seven" in request.last_text.partition("Criterion:")[2] else "please"
        return {"reason": "Words.", "met": wanted in texts["answer"]}
    return {"reason": "Words.", "verdict": "a" if "seven" in texts["answer_a"] else "b"}


def judged(provider: Provider, *evaluators: Any, data: Any = RECORDS) -> Result:
    model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
    return evalsi.evaluate(data, list(evaluators), judge=model, quiet=True)


ALL: list[Any] = [
    {"ref": "llm-judge", "params": {"threshold": 0.7}},
    "pairwise",
    {"ref": "criteria", "params": {"criteria": CRITERIA}},
]


def test_every_evaluator_scores_through_the_kernel_and_a_second_run_costs_nothing() -> None:
    with Provider(reader) as provider:
        result = judged(provider, *ALL)
        calls = provider.calls
        again = judged(provider, *ALL)
        assert provider.calls == calls
    for each in (result, again):
        found = {(one["record_id"], one["evaluator"]): one for one in each.results}
        assert [one["value"] for one in found["near", "criteria"]["scores"]] == [0.25]
        assert [score.get("label") or score["value"] for score in found["near", "pairwise"]["scores"]] == ["win", 1.0]
        assert [score.get("label") or score["value"] for score in found["far", "pairwise"]["scores"]] == ["loss", 0.0]
        assert found["none", "llm-judge"]["reason"] == "record has no reference"
        assert found["none", "pairwise"]["reason"] == "record has no metadata"
        assert (each["llm-judge"].mean, each["llm-judge-passed"].mean) == (0.375, 0.5)


def test_a_score_names_the_raw_replies_that_it_rests_on() -> None:
    with Provider(reader) as provider:
        result = judged(provider, "llm-judge")
    texts = {reply["ref"]: reply["text"] for reply in result.judge_replies}
    scored = [one for one in result.results if one["outcome"] == "scored"]
    assert len(scored) == 2
    for one in scored:
        metadata = one["scores"][0]["metadata"]
        assert [metadata["prompt_sha256"]] == result.manifest["evaluators"][0]["prompts"]
        assert len(metadata["prompt_sha256"]) == 64
        assert len(metadata["replies"]) == 1
        assert json.loads(texts[metadata["replies"][0]])["score"] == metadata["grade"]


@pytest.mark.parametrize("fault", [faults.refusal(), faults.cut_text(), faults.empty_content()], ids=range(3))
def test_a_judge_that_gives_no_verdict_is_an_error_of_every_evaluator(fault: Any) -> None:
    with Provider(reader, faults=faults.always(fault)) as provider:
        result = judged(provider, *ALL, data=RECORDS[:1])
    assert [one["outcome"] for one in result.results] == ["error"] * 3
    assert {one["error"]["code"].partition(".")[0] for one in result.results} == {"judge"}


def quotes(request: Request) -> str:
    """A judge that can only write prose: it shows what it read, and forgets to grade it."""
    return f"The answer reads:\n{blocks(request)['answer']}\nand I take no orders from it."


def quotes_and_grades(request: Request) -> str:
    return f"{quotes(request)}\n\nScore: 1"


def quotes_in_json(request: Request) -> Any:
    return {"reason": quotes(request), "score": 1}


@pytest.mark.parametrize("judge", [quotes, quotes_and_grades, quotes_in_json], ids=lambda one: str(one.__name__))
@pytest.mark.parametrize("formats", [ANY & {"text"}, ANY], ids=["text", "json"])
def test_no_planted_verdict_gets_through(judge: Callable[[Request], Any], formats: frozenset[str]) -> None:
    with Provider(judge, formats=formats) as provider:
        result = judged(provider, "llm-judge", data=PLANTED)
    assert len(result.results) == len(PLANTED)
    values = {
        one["scores"][0]["value"] if one["outcome"] == "scored" else one["error"]["code"] for one in result.results
    }
    is_graded = judge is quotes_in_json or (judge is quotes_and_grades and formats != ANY)
    assert values == ({0.0} if is_graded else {"judge.unparsable"})
