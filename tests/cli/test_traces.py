"""Whatever way a run ends, it leaves no process and no scratch folder."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, evalsi, write_jsonl

EVALUATORS = '''
import os, signal, subprocess, time
from pathlib import Path
from evalsi import evaluator

@evaluator
def fine(record) -> bool:
    return True

@evaluator
def dies(record) -> bool:
    subprocess.Popen(["sleep", "60"])
    os.kill(os.getpid(), signal.SIGKILL)
    return True

@evaluator
def busy(record) -> bool:
    """Takes 20 ms, so that it can leave soon; notes who it is."""
    Path("pack.pid").write_text(str(os.getpid()))
    time.sleep(0.02)
    return True

@evaluator
def stuck(record) -> bool:
    Path("pack.pid").write_text(str(os.getpid()))
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
    process = subprocess.Popen([EVALSI, *words(evaluator)], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    try:
        assert soon(lambda: (folder / "pack.pid").is_file() and (folder / "pack.pid").read_text() != "")
        yield process, int((folder / "pack.pid").read_text())
    finally:
        process.kill()
        process.wait()


def soon(is_so: Callable[[], bool], within_s: float = 20.0) -> bool:
    end = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("evaluator", ["busy", "stuck"])
def test_no_scratch_folder_and_no_process_stay_after_an_interrupt(evaluator: str, folder: Path) -> None:
    with running(folder, f"./mine.py:{evaluator}") as (process, pack):
        assert scratch(folder)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert soon(lambda: not lives(pack), 5)
        assert scratch(folder) == []


def test_a_pack_whose_kernel_is_killed_ends_at_the_next_record(folder: Path) -> None:
    with running(folder, "./mine.py:busy") as (process, pack):
        process.kill()
        assert soon(lambda: not lives(pack), 5)
