"""C2: an exception of an evaluator is shown once with file and line; prints are in the log."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import Record
from tests.cli.running import Done, write_jsonl
from tests.cli.running import evalsi as command

CODE = """
import logging

def boom(output: str) -> bool:
    print("printed", output)
    logging.getLogger("mine").warning("logged %s", output)
    if output == "fine":
        return True
    if output.startswith("key"):
        raise KeyError(output)
    return bool(1 / 0)

async def boom_async(output: str) -> bool:
    return boom(output)
"""
ROWS = [{"output": text} for text in ("fine", "a", "b", "c", "key-1", "key-2")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    write_jsonl(tmp_path / "d.jsonl", ROWS)
    return tmp_path


def evaluated(folder: Path, *more: str, name: str = "boom") -> Done:
    words = ("--data", "d.jsonl", "--evaluators", f"./mine.py:{name}", "--output", "r.json", *more)
    return command("eval", *words, cwd=folder, variables={"EVALSI_HOME": str(folder / "home"), "NO_COLOR": "1"})


def errors_in(path: Path) -> list[dict[str, Any]]:
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    return [one["error"] for one in results if one["outcome"] == "error"]


@pytest.mark.parametrize("name", ["boom", "boom_async"])
def test_c2_eval_shows_one_traceback_for_each_place(folder: Path, name: str) -> None:
    done = evaluated(folder, name=name)
    assert done.err.count("Traceback (most recent call last)") == 2
    assert done.err.count("ZeroDivisionError: division by zero\n  ") <= 1
    assert f'File "{folder}/mine.py", line 11' in done.err
    errors = errors_in(folder / "r.json")
    assert len(errors) == 5
    assert all("mine.py, line" in one["hint"] for one in errors)
    assert ["traceback" in one for one in errors] == [True, False, False, True, False]


def test_c2_the_log_that_errors_name_has_prints_logging_and_tracebacks(folder: Path) -> None:
    done = evaluated(folder)
    (error, *_) = errors_in(folder / "r.json")
    found = re.search(r"output is in (\S+)\.$", error["hint"])
    assert found is not None
    assert found[1] in done.err
    log = Path(found[1]).read_text(encoding="utf-8")
    assert all(f"printed {row['output']}" in log and f"logged {row['output']}" in log for row in ROWS)
    assert log.count("Traceback (most recent call last)") == 2


def test_c2_verbose_and_the_variable_show_the_log_as_it_comes(folder: Path) -> None:
    assert "printed fine" not in evaluated(folder).err
    assert "printed fine" in evaluated(folder, "--verbose").err
    done = command(
        "eval", "--data", "d.jsonl", "--evaluators", "./mine.py:boom", cwd=folder, variables={"EVALSI_DEBUG": "1"}
    )
    assert "printed fine" in done.err


def test_c2_quiet_shows_no_traceback(folder: Path) -> None:
    assert "Traceback" not in evaluated(folder, "--quiet").err


def test_c2_run_shows_one_traceback_and_keeps_the_log_in_its_folder(folder: Path) -> None:
    spec = {
        "metadata": {"name": "t"},
        "spec": {
            "target": {"connector": "replay"},
            "dataset": {"path": "d.jsonl"},
            "evaluators": [{"ref": "./mine.py:boom"}],
        },
    }
    (folder / "run.yaml").write_text(json.dumps(spec), encoding="utf-8")
    done = command("run", "-f", "run.yaml", cwd=folder, variables={"NO_COLOR": "1"})
    assert done.err.count("Traceback (most recent call last)") == 2
    log = folder / ".evalsi" / "runs" / "t-1" / "packs.log"
    assert "printed fine" in log.read_text(encoding="utf-8")
    assert str(Path(".evalsi") / "runs" / "t-1" / "packs.log") in done.err


def failing(record: Record) -> bool:
    return bool(1 / 0)


def test_c2_evaluate_shows_one_traceback_and_none_when_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [{"output": str(number)} for number in range(114)]
    evalsi.evaluate(rows, [failing])
    err = capfd.readouterr().err
    assert err.count("Traceback (most recent call last)") == 1
    assert "test_tracebacks.py" in err
    result = evalsi.evaluate(rows, [failing], quiet=True)
    assert "Traceback" not in capfd.readouterr().err
    assert "test_tracebacks.py, line" in result.results[5]["error"]["hint"]
