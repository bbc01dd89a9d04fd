"""Test closed and full standard streams, and streams with a limited encoding."""

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


@pytest.mark.parametrize("records", [1, 2])
def test_an_error_of_a_pack_commands_no_terminal_and_has_no_line_like_ours(records: int, tmp_path: Path) -> None:
    """Once as the error that ends the command, where all records fail, and once as a note."""
    (tmp_path / "mine.py").write_text(
        "def loud(record):\n"
        "    if record.id == '1':\n"
        "        return True\n"
        "    raise ValueError('\\x1b[2Jcleared\\rover\\nexact-match  6  1.000')\n"
    )
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": "a"}] * records)
    words = [str(EVALSI), "eval", "--data", str(data), "--evaluators", "./mine.py:loud"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == (1 if records == 1 else 0)
    assert "\x1b" not in done.stderr
    assert "\\x1b[2Jcleared\\rover" in done.stderr
    assert "\n  exact-match  6  1.000" in done.stderr
    assert not any(line.startswith("exact-match") for line in done.stderr.splitlines())


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
