"""The pack rag end to end: its process, the broker, a connector, and a provider over HTTP that reads only words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi.evaluation import Result
from tests.own_cache import own_cache
from tests.providers import KEY, MODEL, Provider, Request

FERRY = Path(__file__).parents[2] / "examples/rag/ferry.jsonl"
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in FERRY.read_text("utf-8").splitlines()]
JUDGED = ["faithfulness", "answer-relevance", "context-precision", "context-recall"]
SUPPORT = {"ref": "citation-accuracy", "params": {"support": True}}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def blocks(request: Request) -> dict[str, str]:
    """The texts that the message shows, by the names of their blocks."""
    code = request.last_text.partition("\n")[0].removeprefix("Code: ")
    return dict(re.findall(rf"<(\w+) {code}>\n(.*?)\n</\1 {code}>", request.last_text, re.DOTALL))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.casefold()))


def reader(request: Request) -> Any:
    """A judge that takes every sentence for a claim and overlap of words for support."""
    texts, names = blocks(request), list(request.schema["properties"])
    if names == ["claims"]:
        return {"claims": [] if "not say" in texts["answer"] else re.split(r"(?<=\.) ", texts["answer"])}
    if names == ["reason", "relevant"]:
        return {"reason": "Words.", "relevant": bool(words(texts["question"]) & words(texts["context"]))}
    if names == ["reason", "grade"]:
        return {"reason": "Words.", "grade": "fully" if words(texts["question"]) & words(texts["answer"]) else "not"}
    told = words(" ".join(text for name, text in texts.items() if name.startswith("context_")))
    return {
        name: {"reason": "Words.", "verdict": "supported" if words(texts[name]) <= told else "not_stated"}
        for name in names
    }


def judged(provider: Provider, *evaluators: Any, data: Any = RECORDS, **settings: Any) -> Result:
    model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
    return evalsi.evaluate(data, list(evaluators), judge=model, quiet=True, **settings)


def outcomes(result: Result) -> Mapping[tuple[str, str], dict[str, Any]]:
    return {(one["record_id"], one["evaluator"]): one for one in result.results}


def test_every_evaluator_scores_the_example_through_the_kernel() -> None:
    with Provider(reader) as provider:
        result = judged(provider, *JUDGED, SUPPORT)
    found = outcomes(result)
    assert {one["outcome"] for one in result.results} == {"scored", "skipped"}
    skipped = found["unknown", "faithfulness"]
    assert (skipped["outcome"], skipped["reason"]) == ("skipped", "no claims: the judge found none in the output")
    precision = found["dogs", "context-precision"]["scores"][0]
    assert precision["value"] == 0.5
    assert [chunk["relevant"] for chunk in precision["metadata"]["chunks"]] == [False, True, False]
    assert {one["name"]: one["value"] for one in found["dogs", "citation-accuracy"]["scores"]} == {
        "citation-accuracy": 0.0
    }
    for one in result.results:
        for score in one.get("scores", ()):
            assert 0.0 <= score["value"] <= 1.0


def test_the_same_run_again_costs_nothing() -> None:
    with Provider(reader) as provider:
        first = judged(provider, *JUDGED, SUPPORT)
        calls = provider.calls
        again = judged(provider, *JUDGED, SUPPORT)
        assert provider.calls == calls
    assert [summary.mean for summary in again.summaries] == [summary.mean for summary in first.summaries]


def test_another_order_of_the_chunks_costs_nothing() -> None:
    with Provider(reader) as provider:
        forth = judged(provider, "context-precision")
        calls = provider.calls
        turned = [{**record, "context": record["context"][::-1]} for record in RECORDS]
        back = judged(provider, "context-precision", data=turned)
        assert provider.calls == calls
    assert outcomes(forth)["timetable", "context-precision"] != outcomes(back)["timetable", "context-precision"]


@pytest.mark.parametrize("missing", [0, 1])
def test_a_judge_that_counts_wrong_is_asked_to_hint_it_and_then_an_error(missing: int) -> None:
    def miscounting(request: Request) -> Any:
        answer = reader(request)
        if "statement_1" in answer:
            answer["statement_9"] = answer["statement_1"]
            if missing:
                del answer["statement_1"], answer["statement_9"]
        return answer

    with Provider(miscounting) as provider:
        result = judged(provider, "faithfulness", data=RECORDS[:1])
        assert provider.calls == 3  # The claims, the verdicts, and one try to correct them.
    (outcome,) = result.results
    assert outcome["outcome"] == "error"
    assert outcome["error"]["code"] == "judge.unparsable"


def test_the_support_of_citations_is_booked_although_only_that_param_asks() -> None:
    with Provider(reader) as provider:
        result = judged(provider, SUPPORT)
        assert provider.calls == 3
    assert result["citation-accuracy"].judge is not None
    assert result["citation-accuracy"].judge.calls == 3
    calls = [one.get("judge_calls", []) for one in result.results]
    assert [len(one) for one in calls] == [2, 1, 0, 0]
    assert calls[0] == result.results[0]["scores"][0]["metadata"]["replies"]
    assert "none of the evaluators asks one" not in result.table()


def test_citations_need_no_judge_but_for_their_support() -> None:
    free = evalsi.evaluate(RECORDS, ["citation-accuracy"], quiet=True)
    assert [one["scores"][0]["value"] for one in free.results] == [1.0, 0.5, 0.0, 0.0]
    bound = evalsi.evaluate(RECORDS, [SUPPORT], quiet=True)
    found = outcomes(bound)["timetable", "citation-accuracy"]
    assert found["error"]["code"] == "capability.not_bound"
