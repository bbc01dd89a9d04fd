"""How a run ended is one thing: the exit code, the run's state, its results file, its report and `runs list` agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import evalsi
from tests.providers import Provider, faults, fixed
from tests.runs.running import executed, model_of, records, results, run, write_spec

BROKEN = """
from evalsi import Record, evaluator

@evaluator(name="broken", version=1)
def broken(record: Record) -> float:
    raise ValueError("no model there")
"""
MATCH, FAILS = {"ref": "exact-match"}, {"ref": "./own.py:broken"}
COUNTS_AS_ERROR = "The run came to its end and counts as an error, since something could not be scored at all."


@pytest.fixture
def vendor() -> Iterator[Provider]:
    with Provider(fixed("Lisbon")) as provider:
        yield provider


def spec_of(folder: Path, vendor: Provider, **spec: Any) -> Path:
    (folder / "own.py").write_text(BROKEN)
    return write_spec(folder, model_of(vendor), **spec)


def gate_at(least: float) -> list[dict[str, Any]]:
    return [{"metric": "exact-match", "min": least}]


@pytest.mark.parametrize(
    ("spec", "state", "code"),
    [
        ({}, "succeeded", 0),
        ({"evaluators": [FAILS]}, "error", 1),
        ({"evaluators": [MATCH, FAILS]}, "error", 1),
        # As of a judge that is asked of what is wrong alone, and nothing is.
        ({"evaluators": [MATCH, {"ref": "length", "when": "false"}]}, "succeeded", 0),
        ({"dataset": {"path": "qa.jsonl", "mapping": {"input": "question", "reference": "anser"}}}, "error", 1),
        ({"gates": gate_at(0.4)}, "succeeded", 0),
        ({"evaluators": [MATCH, FAILS], "gates": gate_at(0.4)}, "error", 1),
        ({"gates": gate_at(0.9)}, "failed", 3),
        ({"evaluators": [MATCH, FAILS], "gates": gate_at(0.9)}, "failed", 3),
    ],
)
def test_exit_code_state_results_report_and_list_agree(
    tmp_path: Path, vendor: Provider, spec: dict[str, Any], state: str, code: int
) -> None:
    spec_of(tmp_path, vendor, **spec)
    done = run(tmp_path)
    assert done.code == code
    assert f"run-1: {state}, " in done.out
    assert results(tmp_path)["manifest"]["state"] == state
    [listed] = json.loads(evalsi("runs", "list", "--format", "json", cwd=tmp_path).out)
    assert (listed["state"], listed["finished"]) == (state, True)
    assert evalsi("report", ".evalsi/runs/run-1/results.json", "-o", "report.md", cwd=tmp_path).code == 0
    report = (tmp_path / "report.md").read_text()
    assert (COUNTS_AS_ERROR in report) is (state == "error")
    if "gates" not in spec:
        assert ("# Error" if state == "error" else "# Scored") in report


def test_a_run_that_came_to_its_end_is_over_also_where_it_counts_as_an_error(tmp_path: Path, vendor: Provider) -> None:
    spec_of(tmp_path, vendor, evaluators=[MATCH, FAILS])
    ends = [executed(tmp_path) for _ in range(2)]
    assert [(end.run_id, end.state, end.kept) for end in ends] == [("run-1", "error", 0), ("run-2", "error", 0)]


def test_errors_of_a_run_that_counts_as_one_are_tried_again_and_nothing_else(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), faults=lambda call: faults.bad_request() if call <= 4 else None) as vendor:
        write_spec(tmp_path, model_of(vendor), records(4))
        assert executed(tmp_path).state == "error"
        end = executed(tmp_path, retry_errors=True)
        assert (end.run_id, end.state, vendor.calls) == ("run-1", "succeeded", 8)
    assert evalsi("runs", "list", cwd=tmp_path).out.splitlines()[1].split()[:2] == ["run-1", "succeeded"]
