"""Standard streams as they come: closed, full, of few characters. No traceback, and no number lost in silence."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, QA, write_jsonl

WORDS = ["eval", "--data", str(QA), "--evaluators", "exact-match"]


def shell(redirection: str, *more: str) -> subprocess.CompletedProcess[str]:
    line = " ".join([f"'{EVALSI}'", *WORDS, *more, redirection])
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)


def test_a_closed_standard_output_costs_only_what_would_stand_there(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    done = shell(">&-", "--output", str(output))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(output.read_text("utf-8"))["manifest"]["status"] == "complete"


@pytest.mark.parametrize("redirection", ["2>&-", "<&-"])
def test_a_closed_error_stream_or_input_costs_nothing(redirection: str) -> None:
    done = shell(redirection)
    assert done.returncode == 0
    assert "exact-match  6  0.333" in done.stdout


def test_a_full_standard_output_is_an_error_that_says_so() -> None:
    done = shell(">/dev/full")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "o space" in done.stderr


def test_a_reader_that_has_enough_ends_an_evaluation_quietly() -> None:
    done = shell("--format json | true; echo ${PIPESTATUS[0]}")
    assert done.stdout.strip() in ("0", "141")
    assert done.stderr == ""


@pytest.mark.parametrize("form", ["table", "json"])
def test_characters_that_the_output_lacks_are_escaped_and_json_stays_json(form: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def größe(record):\n    return '…'\n", encoding="utf-8")
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": "a"}])
    done = subprocess.run(
        [EVALSI, "eval", "--data", data, "--evaluators", "./own.py:größe", "--format", form],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if form == "json":
        assert json.loads(done.stdout.decode("ascii"))["summaries"][0]["metric"] == "größe"
    else:
        assert "gr\\xf6\\xdfe" in done.stdout.decode("ascii")
