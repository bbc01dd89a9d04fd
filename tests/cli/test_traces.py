"""A run leaves no process and no scratch folder, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, evalsi, write_jsonl
from tests.processes import BOUND_S, still_running, told

EVALUATORS = '''
import os, signal, subprocess, time
from evalsi import evaluator

@evaluator
def fine(record) -> bool:
    return True

@evaluator
def dies(record) -> bool:
    subprocess.Popen(["sleep", "60"])
    os.kill(os.getpid(), signal.SIGKILL)
    return True

def say_who():
    with open("pack", "w") as pipe:
        pipe.write(f"{os.getpid()}\\n")

@evaluator
def busy(record) -> bool:
    """Takes 20 ms, so that it can leave soon; says at its first record who it is."""
    if record.id == "1":
        say_who()
    time.sleep(0.02)
    return True

@evaluator
def stuck(record) -> bool:
    say_who()
    while True:
        time.sleep(0.01)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(EVALUATORS)
    (tmp_path / "scratch").mkdir()
    write_jsonl(tmp_path / "data.jsonl", [{"output": "a", "reference": "a"}] * 2000)
    write_jsonl(tmp_path / "one.jsonl", [{"output": "a"}])
    return tmp_path


def words(evaluator: str, data: str = "data.jsonl") -> list[str]:
    return ["eval", "--data", data, "--evaluators", evaluator, "--quiet"]


def scratch(folder: Path) -> list[str]:
    return [path.name for path in (folder / "scratch").iterdir()]


@pytest.mark.parametrize(
    ("evaluator", "data", "code"),
    [("exact-match,./mine.py:fine", "data.jsonl", 0), ("./mine.py:dies", "one.jsonl", 1), ("./mine.py:no", "", 1)],
)
def test_no_scratch_folder_stays_after_a_run_a_crash_or_an_error(
    evaluator: str, data: str, code: int, folder: Path
) -> None:
    done = evalsi(*words(evaluator, data or "one.jsonl"), cwd=folder, variables={"TMPDIR": str(folder / "scratch")})
    assert done.code == code, done.err
    assert scratch(folder) == []


@contextmanager
def running(folder: Path, evaluator: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A run that scores, and the id of its pack."""
    environment = os.environ | {"TMPDIR": str(folder / "scratch")}
    with told(folder / "pack") as pack:
        process = subprocess.Popen([EVALSI, *words(evaluator)], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        try:
            yield process, int(pack.line())
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("evaluator", ["busy", "stuck"])
def test_no_scratch_folder_and_no_process_stay_after_an_interrupt(evaluator: str, folder: Path) -> None:
    with running(folder, f"./mine.py:{evaluator}") as (process, pack):
        assert scratch(folder)
        process.send_signal(signal.SIGINT)
        assert process.wait(BOUND_S) == 130
        assert still_running([pack]) == []
        assert scratch(folder) == []


def test_a_pack_whose_kernel_is_killed_ends_at_the_next_record(folder: Path) -> None:
    with running(folder, "./mine.py:busy") as (process, pack):
        process.kill()
        assert still_running([pack]) == []
