"""`evalsi shadow`: a candidate answers the inputs that were recorded, and is compared with what was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Done, evalsi
from tests.providers import KEY, Provider, Request
from tests.runs.running import MODEL_KEY, model_of, records, write_spec

COUNT = 20


def answer(request: Request) -> str:
    """Lisbon for every question, which half of them want; what was recorded was right everywhere."""
    return "Lisbon"


@pytest.fixture
def vendor() -> Iterator[Provider]:
    with Provider(answer) as provider:
        yield provider


def recorded(count: int = COUNT) -> list[dict[str, Any]]:
    return [{**row, "output": row["answer"]} for row in records(count)]


def shadow(folder: Path, *words: str) -> Done:
    return evalsi("shadow", "-f", "candidate.yaml", "--quiet", *words, cwd=folder, variables={MODEL_KEY: KEY})


def candidate(folder: Path, target: dict[str, Any], rows: list[dict[str, Any]] | None = None, **spec: Any) -> None:
    write_spec(folder, target, recorded() if rows is None else rows, **spec).rename(folder / "candidate.yaml")


def test_a_candidate_is_compared_with_what_was_recorded(tmp_path: Path, vendor: Provider) -> None:
    candidate(tmp_path, model_of(vendor))
    done = shadow(tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Worse: exact-match -0.500.")
    assert "exact-match: 10 worse, 10 the same" in done.out
    assert vendor.calls == COUNT
    runs = json.loads(evalsi("runs", "list", "--format", "json", cwd=tmp_path).out)
    assert [(run["id"], run["state"]) for run in runs] == [("run-1", "succeeded"), ("run-recorded-1", "succeeded")]


def test_a_regression_and_a_failed_gate_are_exit_code_three(tmp_path: Path, vendor: Provider) -> None:
    candidate(tmp_path, model_of(vendor), trials=2, budget={"max_target_tokens": 100_000})
    done = shadow(tmp_path, "--format", "json", "-o", "shadow.md", "--fail-on-regression", "exact-match:0.1")
    assert done.code == 3, done.err
    told = json.loads(done.out)
    assert told["regression"]["failed"] is True
    assert [(one["pairs"], one["base"], one["candidate"]) for one in told["metrics"]] == [(20, 1.0, 0.5)]
    assert (tmp_path / "shadow.md").read_text("utf-8").startswith("**Worse: exact-match")
    candidate(tmp_path, model_of(vendor), gates=[{"metric": "exact-match", "min": 0.9}])
    assert shadow(tmp_path).code == 3


def test_data_without_recorded_outputs_are_told_before_the_candidate_is_asked(tmp_path: Path, vendor: Provider) -> None:
    candidate(tmp_path, model_of(vendor), records(4))
    done = shadow(tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "No answer was recorded for the record" in done.err
    assert vendor.calls == 0


def test_a_dry_run_says_what_the_candidate_could_take_and_asks_nothing(tmp_path: Path, vendor: Provider) -> None:
    candidate(tmp_path, model_of(vendor))
    done = shadow(tmp_path, "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{COUNT} calls to the target for {COUNT} records")
    assert vendor.calls == 0
