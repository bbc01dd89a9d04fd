"""Files and questions for the tests of `evalsi analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.running import Done, evalsi
from tests.comparison.results_files import SKIPPED, write_results

NUMBERS: dict[str, float | str | None] = {"r1": 0.25, "r2": None, "r3": SKIPPED, "r4": 0.75}
TOPICS: dict[str, dict[str, Any]] = {
    "r1": {"topic": "geo", "who": {"age": 3}},
    "r2": {"topic": "geo"},
    "r3": {"topic": "math"},
    "r4": {"topic": "math", "a.b": 1},
}


def nightly(
    folder: Path, number: int, *, model: str = "small", labels: dict[str, str] | None = None, **parts: Any
) -> Path:
    """The results file of a run: `exact` passes two of four records, `f1` scores two, fails on one and skips one."""
    manifest = {
        "run_id": f"capitals-{number}",
        "name": "capitals",
        "project": "support",
        "labels": labels or {},
        "target": {"connector": "openai-compatible", "model": model},
        "started_at": f"2026-11-{number:02d}T02:00:00.000+00:00",
        "source": {"commit": f"c{number}", "branch": "main", "pull_request": None},
        "trials": 1,
    }
    exact = {"r1": True, "r2": True, "r3": False, "r4": False}
    return write_results(
        folder / f"nightly-{number}.json",
        {"exact": exact, "f1": NUMBERS},
        metadata=TOPICS,
        manifest={**manifest, **parts.pop("manifest", {})},
        head={"verdict": "pass", "gates": []},
        **parts,
    )


def analyze(*words: str | Path, cwd: Path | None = None) -> Done:
    return evalsi("analyze", *words, cwd=cwd)


def rows(done: Done) -> list[dict[str, Any]]:
    """The rows of an answer that was asked for as JSON."""
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def ask(sql: str, *words: str | Path) -> list[dict[str, Any]]:
    """The rows of a question."""
    return rows(analyze("query", sql, *words, "--format", "json"))
