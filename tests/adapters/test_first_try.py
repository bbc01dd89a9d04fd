"""The command of the guide as it stands there, typed for the first time: no environment is built yet."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import EVALSI, write_jsonl
from tests.providers import KEY, MODEL, Provider, Request

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

BOUND_S = 500.0
DATA = [
    {"input": "When does the ferry sail?", "output": "At noon.", "context": ["The ferry sails at noon."]},
    {"input": "May dogs ride?", "output": "They ride free.", "context": ["Dogs travel free."]},
    {"input": "What is it?", "output": "A boat."},
]


def reader(request: Request) -> Any:
    """A judge that finds one statement, supports it, and gives 9 of 10."""
    answers: dict[str, Any] = {"steps": ["Look for an answer."], "score": 9, "reason": "It answers."}
    statements: list[Any] = ["It is said."]
    if "verdict" in str(request.schema):
        statements = [{"statement": statements[0], "reason": "It stands there.", "verdict": 1}]
    return {name: statements if name == "statements" else answers[name] for name in request.schema["properties"]}


def typed(folder: Path, provider: Provider) -> subprocess.CompletedProcess[str]:
    words = ["eval", "--data", "qa.jsonl", "--evaluators", "ragas/faithfulness,deepeval/g-eval"]
    words += ["--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY"]
    variables = os.environ | {"EVALSI_CACHE_DIR": str(folder / "cache"), "JUDGE_KEY": KEY}
    return subprocess.run(
        [EVALSI, *words], cwd=folder, env=variables, capture_output=True, text=True, timeout=BOUND_S, check=False
    )


def test_two_frameworks_score_at_the_first_try_and_say_what_they_build(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "qa.jsonl", DATA)
    with Provider(reader) as provider:
        first, second = typed(tmp_path, provider), typed(tmp_path, provider)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    told = first.stderr.splitlines()
    for name in ("ragas", "deepeval"):
        assert f"building the environment of {name} (first use)…" in told
        assert any(line.startswith(f"built the environment of {name} in ") for line in told)
    assert "environment" not in second.stderr
    rows = {line.split()[0]: line.split()[1:5] for line in first.stdout.splitlines() if line}
    assert (rows["faithfulness"][:2], rows["g-eval"][:2]) == (["2", "1.000"], ["3", "0.900"])
    # The same scores, and nothing was asked again.
    assert [line.split()[-3:-1] for line in second.stdout.splitlines()[-2:]] == [["0", "4"], ["0", "6"]]
