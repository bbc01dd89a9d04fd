"""Recorded answers as a target: from rows, from an earlier run's results, or from the data itself; free, and honest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import ConfigError, DatasetError
from evalsi_kernel.target import Generated, Target
from tests.cli.running import write_jsonl
from tests.runs.running import write_spec
from tests.targets.asking import ask, failure, with_target
from tests.targets.running_here import outcomes, run_here


def replayed(folder: Path, rows: list[Any], **options: Any) -> Any:
    """What is recorded of trials 1 and 2 of the record `of a`: an output, or the error's message."""
    write_jsonl(folder / "recorded.jsonl", rows)

    async def used(target: Target) -> list[Any]:
        told: list[Any] = []
        for trial in (1, 2):
            try:
                told.append((await ask(target, "a", trial)).output)
            except Exception:  # noqa: BLE001 - asked again just below, where it must fail the same way
                told.append((await failure(ask(target, "a", trial))).error.message)
        return told

    return with_target("replay", folder, used, path="recorded.jsonl", **options)


def of_trial(trial: int, output: Any) -> dict[str, Any]:
    return {"id": "of a", "output": output, "provenance": {"run": {"trial": trial}}}


def test_an_answer_that_names_no_trial_stands_for_each(tmp_path: Path) -> None:
    assert replayed(tmp_path, [{"id": "of a", "output": "A"}]) == ["A", "A"]


def test_an_answer_of_one_trial_is_not_passed_off_as_another(tmp_path: Path) -> None:
    assert replayed(tmp_path, [of_trial(1, "A"), of_trial(2, "B")]) == ["A", "B"]
    assert replayed(tmp_path, [of_trial(1, "A")]) == [
        "A",
        "No answer was recorded for the record 'of a' in trial 2.",
    ]


def test_an_empty_answer_is_one_and_none_is_none(tmp_path: Path) -> None:
    assert replayed(tmp_path, [{"id": "of a", "output": ""}]) == ["", ""]
    assert "No answer was recorded" in replayed(tmp_path, [{"id": "of a", "output": None}])[0]
    assert "No answer was recorded" in replayed(tmp_path, [{"id": "of b", "output": "B"}])[0]


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    rows = [{"key": "of a", "reply": {"text": "A"}}]
    assert replayed(tmp_path, rows, id="key", output="reply.text") == ["A", "A"]


def test_it_costs_nothing_and_keeps_what_was_recorded_beside_the_answer(tmp_path: Path) -> None:
    row = {"id": "of a", "output": "A", "usage": {"latency_ms": 120.5, "input_tokens": 9}, "context": ["c"]}
    write_jsonl(tmp_path / "recorded.jsonl", [row])
    made: Generated = with_target("replay", tmp_path, lambda target: ask(target, "a"), path="recorded.jsonl")
    assert (made.tokens.input, made.cost_usd) == (0, 0.0)
    assert made.fields == {"context": ["c"], "usage": {"latency_ms": 120.5, "input_tokens": 9}}


@pytest.mark.parametrize("target", [{"connector": "replay"}, {"connector": "replay", "path": "recorded.jsonl"}])
def test_the_usage_that_is_scored_is_the_recorded_one_and_what_is_unknown_is_skipped(
    tmp_path: Path, target: dict[str, Any]
) -> None:
    """What the replay itself takes, a few microseconds and no dollar, says nothing of what is evaluated."""
    usage = {"latency_ms": 120.5, "cost_usd": 0.25}
    rows = [
        {"id": "a", "question": "?", "answer": "x", "output": "x", "usage": usage},
        {"id": "b", "question": "?", "answer": "x", "output": "x"},
    ]
    write_jsonl(tmp_path / "recorded.jsonl", rows)
    evaluators = [{"ref": "latency"}, {"ref": "cost"}]
    _, results = run_here(write_spec(tmp_path, target, rows, evaluators=evaluators, gates=[]))
    assert outcomes(results) == ["scored", "scored", "skipped", "skipped"]
    assert [one["mean"] for one in results["summaries"]] == [120.5, 0.25]
    assert results["manifest"]["target_usage"]["cost_usd"] == 0.0
    assert results["records"][0]["usage"] == usage


def test_a_file_that_does_not_fit_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"recorded.jsonl, line 2: the row has no id"):
        replayed(tmp_path, [{"id": "of a", "output": "A"}, {"output": "B"}])
    with pytest.raises(ConfigError, match=r"line 2: the answer to 'of a' stands there twice"):
        replayed(tmp_path, [of_trial(1, "A"), of_trial(1, "B")])
    with pytest.raises(DatasetError, match=r"nowhere.jsonl"):
        with_target("replay", tmp_path, ask, path="nowhere.jsonl")
    (tmp_path / "cut.json").write_text('{"schema_version":1,\n"records":[\n{"id":"a","output')
    with pytest.raises(ConfigError, match=r"cut.json is cut off, or is no results file"):
        with_target("replay", tmp_path, ask, path="cut.json")
    (tmp_path / "none.json").write_text('{"schema_version":1,"records":{}}')
    with pytest.raises(ConfigError, match=r"none.json holds no records"):
        with_target("replay", tmp_path, ask, path="none.json")


def test_the_results_of_a_run_are_answers_to_replay(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "def answer(text, trial):\n"
        "    if text == 'Q1?':\n"
        "        raise ValueError('no luck')\n"
        "    return [text, trial]\n"
    )
    rows = [{"id": f"r{number}", "question": f"Q{number}?", "answer": "x"} for number in range(3)]
    target = {"connector": "python", "function": "./agent.py:answer"}
    first_end, first = run_here(write_spec(tmp_path, target, rows, trials=2))
    (tmp_path / "first.json").write_text(first_end.results.read_text())
    (tmp_path / "laid_out.json").write_text(json.dumps(first, indent=2))
    for name in ("first.json", "laid_out.json"):
        _, again = run_here(write_spec(tmp_path, {"connector": "replay", "path": name}, rows, trials=2))
        assert outcomes(again) == ["scored", "scored", "target.output", "target.output", "scored", "scored"]
        assert [one.get("output") for one in again["records"]] == [one.get("output") for one in first["records"]]
        assert (
            "the earlier run failed there (The function ./agent.py:answer raised ValueError: no luck"
            in (again["results"][2]["error"]["message"])
        )
        assert again["manifest"]["target_usage"]["cost_usd"] == 0.0


def test_without_a_file_the_data_s_own_outputs_are_scored(tmp_path: Path) -> None:
    rows = [{"id": "a", "question": "?", "answer": "x", "output": "x"}, {"id": "b", "question": "?", "answer": "x"}]
    _, results = run_here(write_spec(tmp_path, {"connector": "replay"}, rows))
    assert outcomes(results) == ["scored", "target.output"]


def test_another_state_of_the_file_is_another_target(tmp_path: Path) -> None:
    async def used(target: Target) -> Any:
        return dict(target.identity)

    write_jsonl(tmp_path / "a.jsonl", [{"id": "a", "output": "A"}])
    before = with_target("replay", tmp_path, used, path="a.jsonl")
    write_jsonl(tmp_path / "a.jsonl", [{"id": "a", "output": "B"}])
    assert before["sha256"] != with_target("replay", tmp_path, used, path="a.jsonl")["sha256"]
