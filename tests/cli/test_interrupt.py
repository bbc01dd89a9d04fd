"""Ctrl-C ends an evaluation in an orderly way, with what was finished saved and labelled; a second one at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, write_jsonl

SLOW = '''
import re
import time
from evalsi import evaluator

@evaluator
def busy(record) -> bool:
    """Computes for 20 ms."""
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    return True

@evaluator
def greedy(record) -> bool:
    """Holds the interpreter and never lets go."""
    re.match("(a|aa)+$", "a" * 100 + "b")
    return True

@evaluator
def stuck(record) -> bool:
    """Never comes back."""
    while True:
        pass
'''
ANSWER_S = 3.0  # The promise is a second; the rest is for a busy machine.


@contextmanager
def running(folder: Path, evaluator: str) -> Iterator[subprocess.Popen[str]]:
    (folder / "slow.py").write_text(SLOW)
    write_jsonl(folder / "data.jsonl", [{"output": "x" * 200}] * 5000)
    words = ["eval", "--data", "data.jsonl", "--evaluators", f"./slow.py:{evaluator}", "--output", "results.json"]
    process = subprocess.Popen([EVALSI, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def children_of(process: subprocess.Popen[str]) -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def processor_s(child: str) -> float:
    """The processor time that a living child has used."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    if fields[0] == "Z":
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_pack(process: subprocess.Popen[str], *, besides: str = "") -> str:
    """The child of the command that has used half a second of processor time: that one scores."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for child in children_of(process):
            if child != besides and processor_s(child) > 0.5:
                return child
        os.sched_yield()
    raise AssertionError("the pack never began to score")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: str(number.name))
def test_one_interrupt_answers_soon_and_keeps_what_was_finished(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path, "busy") as process:
        wait_for_pack(process)
        started = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - started < ANSWER_S
        assert process.returncode == 130
        assert "· partial" in out
        assert "what is finished is kept" in err
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert found["manifest"]["status"] == "partial"
    outcomes = [one["outcome"] for one in found["results"]]
    assert outcomes.count("scored") > 0
    assert outcomes.count("cancelled") > 0
    assert found["summaries"][0]["n"] == outcomes.count("scored")


def test_an_interrupt_ends_an_evaluator_that_never_comes_back(tmp_path: Path) -> None:
    with running(tmp_path, "stuck") as process:
        wait_for_pack(process)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert time.monotonic() - started < ANSWER_S
        assert process.returncode == 130
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["manifest"]["status"] == "partial"


def test_an_interrupt_ends_a_command_whose_data_does_not_come(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data.jsonl")
    words = ["eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--output", "results.json"]
    with subprocess.Popen([EVALSI, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # It opens once the command reads, stays open, and says nothing.
        with (tmp_path / "data.jsonl").open("wb"):
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            assert time.monotonic() - started < ANSWER_S
        assert process.returncode == 130
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["manifest"]["status"] == "partial"


def test_a_second_interrupt_ends_at_once_and_leaves_no_process(tmp_path: Path) -> None:
    with running(tmp_path, "stuck") as process:
        wait_for_pack(process)
        children = children_of(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "stopping" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (130, "stopped\n")
        end = time.monotonic() + 5
        # A killed process stays in the list until whoever inherits it has taken note.
        while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < end:
            os.sched_yield()
        assert [child for child in children if Path(f"/proc/{child}").exists()] == []


def test_a_pack_process_that_is_killed_in_mid_run_costs_at_most_one_record(tmp_path: Path) -> None:
    with running(tmp_path, "busy") as process:
        first = wait_for_pack(process)
        os.kill(int(first), signal.SIGKILL)
        assert wait_for_pack(process, besides=first) != first
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [one["outcome"] for one in found["results"]].count("error") <= 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("evaluator", ["stuck", "greedy"])
def test_no_pack_outlives_a_command_that_is_killed(tmp_path: Path, evaluator: str) -> None:
    with running(tmp_path, evaluator) as process:
        wait_for_pack(process)
        children = children_of(process)
        process.kill()
        end = time.monotonic() + 10
        while any(is_running(child) for child in children) and time.monotonic() < end:
            os.sched_yield()
        left = [child for child in children if is_running(child)]
        for child in left:
            # A promise that is broken must not keep a core busy for ever.
            os.kill(int(child), signal.SIGKILL)
        assert left == []


def is_running(child: str) -> bool:
    try:
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
