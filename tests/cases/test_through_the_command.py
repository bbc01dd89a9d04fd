"""Reported faults of other tools that lie between reading a file and showing its numbers, through the whole command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import evalsi, write_jsonl

OWN = '''
from evalsi import evaluator

@evaluator
def accuracy(record) -> bool:
    """Raises where the record says so."""
    if record.output.as_text() == "error":
        raise RuntimeError("provider 500")
    return record.output.as_text() == "pass"

@evaluator
def faithfulness(record) -> float:
    """The number that the output says."""
    text = record.output.as_text()
    if text == "exception":
        raise RuntimeError("provider 500")
    return float(text)
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def scored(folder: Path, evaluator: str, outputs: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """The summary, the results and what was said on the way."""
    data = write_jsonl(folder / "data.jsonl", [{"output": output} for output in outputs])
    words = ["--evaluators", f"./own.py:{evaluator}", "--output", "results.json", "--format", "json"]
    done = evalsi("eval", "--data", data, *words, cwd=folder)
    assert done.code == 0, done.err
    found = json.loads((folder / "results.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert json.loads(done.out, parse_constant=pytest.fail)["summaries"] == found["summaries"]
    return found["summaries"][0], found["results"], done.err


def test_five_errors_stand_beside_the_share_of_the_five_that_were_scored(own: Path) -> None:
    summary, results, said = scored(own, "accuracy", ["pass"] * 4 + ["fail"] + ["error"] * 5)
    assert (summary["n"], summary["errors"], summary["mean"]) == (5, 5, 0.8)
    assert (summary["ci"]["low"], summary["ci"]["high"]) == pytest.approx((0.3755, 0.9638), abs=5e-5)
    assert [one["outcome"] for one in results] == ["scored"] * 5 + ["error"] * 5
    assert "accuracy failed on 5 of 10 records" in said
    report = evalsi("report", "results.json", cwd=own).out
    assert (
        "5 records of 10 ended as errors of accuracy; no mean counts them. Had they failed: accuracy 0.400." in report
    )


def test_a_nan_and_an_exception_are_errors_and_the_mean_is_that_of_the_others(own: Path) -> None:
    summary, results, _ = scored(own, "faithfulness", ["0.9", "0.8", "nan", "0.7", "exception"])
    assert (summary["n"], summary["errors"]) == (3, 2)
    assert summary["mean"] == pytest.approx(0.8)
    assert [one["outcome"] for one in results] == ["scored", "scored", "error", "scored", "error"]


def test_text_with_unusual_line_ends_comes_back_as_it_was_given(tmp_path: Path) -> None:
    outputs = ["one\u2028two", "three\u0085four\u2029five"]
    data, output = tmp_path / "data.jsonl", tmp_path / "results.json"
    lines = [f'{{"id":"a{number}","output":"{text}"}}\n' for number, text in enumerate(outputs)]
    data.write_text("".join(lines), encoding="utf-8", newline="")
    assert evalsi("eval", "--data", data, "--evaluators", "length", "--output", output).code == 0
    assert [one["output"] for one in json.loads(output.read_text("utf-8"))["records"]] == outputs


def test_an_id_that_is_used_twice_is_an_error_that_names_the_id_and_both_lines(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    rows = [{"id": "7", "output": "red"}, {"id": "8", "output": "blue"}, {"id": "7", "output": "pink"}]
    done = evalsi("eval", "--data", write_jsonl(data, rows), "--evaluators", "length")
    assert (done.code, done.out) == (1, "")
    assert "line 3: the id '7' stands in line 1 already" in done.err
    assert '7 and "7" are the same id' in done.err
    rows[2]["id"] = 7  # type: ignore[assignment]
    assert (
        "line 3: the id '7' stands in line 1 already"
        in evalsi("eval", "--data", write_jsonl(data, rows), "--evaluators", "length").err
    )
