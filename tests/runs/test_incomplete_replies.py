"""G1: replies of a target that were cut off or filtered are counted, shown and gated, in every form of API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.running import evalsi, write_jsonl
from tests.providers import Answer, Provider, Request, faults
from tests.runs.running import executed, model_of, records, results, run, write_spec
from tests.targets.service import serving

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "results.schema.json"
GATES = [
    {"metric": "exact-match", "stat": "truncated", "max": 0},
    {"metric": "exact-match", "stat": "truncated", "max": 2},
    {"metric": "exact-match", "stat": "filtered", "max": 0},
]


def answered(request: Request) -> Answer:
    """Whole replies to question 2 and above, cut ones to the others."""
    return Answer("Os", finish="stop" if "Question 2?" in request.prompt else "length")


def response(body: dict[str, Any]) -> dict[str, Any]:
    """The same as a response of OpenAI's Responses API."""
    is_whole = "Question 2?" in json.dumps(body)
    said = {"type": "message", "content": [{"type": "output_text", "text": "Os"}]}
    why = {} if is_whole else {"incomplete_details": {"reason": "max_output_tokens"}}
    return {"status": "completed" if is_whole else "incomplete", "output": [said], **why}


@contextmanager
def target_of(form: str) -> Iterator[dict[str, Any]]:
    """A target of this form of API."""
    if form in ("responses", "http"):
        with serving() as service:
            service.response = response
            url = f"{service.url}/v1"
            if form == "responses":
                yield {"connector": "responses", "model": "agent", "base_url": url}
            else:
                paths = {"output_path": "output.0.content.0.text", "stop_reason_path": "status"}
                yield {"connector": "http", "url": f"{url}/responses", **paths}
        return
    with Provider(answered) as vendor:
        where = vendor.root_url if form == "anthropic" else vendor.base_url
        yield model_of(vendor, connector=form, base_url=where)


@pytest.mark.parametrize("form", ["openai-compatible", "anthropic", "responses", "http"])
def test_g1_replies_that_were_cut_off_are_counted_shown_and_gated(tmp_path: Path, form: str) -> None:
    with target_of(form) as target:
        write_spec(tmp_path, target, records(3), gates=GATES)
        done = run(tmp_path)
    assert done.code == 3, done.err
    assert "2 of 3 replies of the target were cut off." in done.err
    assert "2 of 3 replies cut off" in done.out

    value = results(tmp_path)
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(value)
    usage, (summary,) = value["manifest"]["target_usage"], value["summaries"]
    assert [usage[name] for name in ("replies", "truncated", "filtered")] == [3, 2, 0]
    assert (summary["truncated"], summary["filtered"]) == (2, 0)
    assert [(gate["verdict"], gate["value"]) for gate in value["gates"]] == [("fail", 2), ("pass", 2), ("pass", 0)]

    shown = evalsi("runs", "show", "run-1", cwd=tmp_path).out
    assert "2 of 3 replies cut off" in shown
    assert "The number of replies that were cut off is 2" in shown
    for shape in ("md", "html", "json"):
        report = evalsi("report", "run-1", "--format", shape, cwd=tmp_path).out
        assert "2 of 3 replies of the target were cut off." in report, shape
        assert "replies cut off" in report, shape


@pytest.mark.parametrize("form", ["openai-compatible", "anthropic"])
def test_g1_refusals_and_content_filters_have_a_stat_of_their_own(tmp_path: Path, form: str) -> None:
    def answer(request: Request) -> Answer:
        return Answer("No.", finish="refusal") if "Question 1?" in request.prompt else Answer("Oslo")

    with Provider(answer) as vendor:
        where = vendor.root_url if form == "anthropic" else vendor.base_url
        write_spec(tmp_path, model_of(vendor, connector=form, base_url=where), records(3), gates=GATES)
        end = executed(tmp_path)
    assert [(gate.verdict, gate.value) for gate in end.gates] == [("pass", 0), ("pass", 0), ("fail", 1)]
    report = evalsi("report", "run-1", cwd=tmp_path).out
    assert "1 of 3 replies of the target was refused or stopped by a content filter." in report


def test_g1_a_gate_by_slices_counts_the_replies_of_each_and_every_trial(tmp_path: Path) -> None:
    rows = [{**row, "tier": "gold" if row["id"] == "r2" else "free"} for row in records(3)]
    gates = [
        {"metric": "exact-match", "stat": "truncated", "max": 0, "slice": "tier"},
        {"metric": "exact-match.pass@2", "stat": "truncated", "max": 0},
    ]
    with target_of("openai-compatible") as target:
        write_spec(tmp_path, target, rows, gates=gates, trials=2)
        end = executed(tmp_path)
    assert [(gate.verdict, gate.value) for gate in end.gates] == [("fail", 4), ("pass", 0), ("fail", 4)]


def test_g1_a_run_that_was_resumed_counts_the_replies_of_all_attempts(tmp_path: Path) -> None:
    with Provider(answered, faults=lambda call: faults.unauthorized() if call == 2 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=1), records(3), gates=GATES)
        first = executed(tmp_path)
        assert (first.state, first.done) == ("error", 1)
        assert first.evaluation.manifest["target_usage"]["truncated"] == 1
        assert [gate.verdict for gate in first.gates] == ["fail", "undecided", "undecided"]
        second = executed(tmp_path)
    assert second.kept == 1
    assert second.evaluation.manifest["target_usage"]["truncated"] == 2
    assert [(gate.verdict, gate.value) for gate in second.gates] == [("fail", 2), ("pass", 2), ("pass", 0)]
    assert any(str(one).startswith("2 of 3 replies of the target were cut off.") for one in second.evaluation.findings)


@pytest.mark.parametrize(
    ("finish", "stat"),
    [("length", "truncated"), ("MAX_TOKENS", "truncated"), ("incomplete", "truncated"), ("SAFETY", "filtered")],
)
def test_g1_a_recorded_answer_says_itself_why_it_ended(tmp_path: Path, finish: str, stat: str) -> None:
    answers: list[dict[str, Any]] = [{"id": f"r{number}", "output": "Os"} for number in range(3)]
    answers[1]["metadata"] = {"finish": finish}
    write_jsonl(tmp_path / "answers.jsonl", answers)
    write_spec(tmp_path, {"connector": "replay", "path": "answers.jsonl"}, records(3))
    assert executed(tmp_path).evaluation.manifest["target_usage"][stat] == 1


def test_g1_a_replay_of_an_earlier_run_counts_its_cut_replies(tmp_path: Path) -> None:
    with target_of("openai-compatible") as target:
        write_spec(tmp_path, target, records(3))
        executed(tmp_path)
    earlier = {"connector": "replay", "path": ".evalsi/runs/run-1/results.json"}
    write_spec(tmp_path, earlier, records(3), gates=GATES)
    assert [(gate.verdict, gate.value) for gate in executed(tmp_path).gates] == [("fail", 2), ("pass", 2), ("pass", 0)]
