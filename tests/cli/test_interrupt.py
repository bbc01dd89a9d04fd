"""Ctrl-C ends an evaluation with saved partial results; a second Ctrl-C ends it at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from evalsi_cli.faults import exit_code_of
from tests.cli.running import EVALSI, write_jsonl
from tests.processes import BOUND_S, Told, still_running, told

SLOW = '''
import os
import re
import time
from evalsi import evaluator

def say_who():
    with open("scoring", "w") as pipe:
        pipe.write(f"{os.getpid()}\\n")

scored = 0

@evaluator
def busy(record) -> bool:
    """Computes for 20 ms; says who it is when it has scored for so long that some outcomes are sent."""
    global scored
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    scored += 1
    if scored == 10:
        say_who()
    return True

@evaluator
def greedy(record) -> bool:
    """Holds the interpreter and never lets go."""
    say_who()
    re.match("(a|aa)+$", "a" * 100 + "b")
    return True

@evaluator
def stuck(record) -> bool:
    """Never comes back."""
    say_who()
    while True:
        pass
'''
# The promise is a second. What does not answer goes on for minutes, so that this tells them apart on any machine.
ANSWER_S = 20.0
# The command, which waits long for what is in flight, so that a second interrupt never comes too late.
PATIENT = (
    "from evalsi_cli import main; from evalsi_kernel.supervision import engine; engine.GRACE_S = 60.0; "
    "main.run_and_exit()"
)


class Running(NamedTuple):
    """A command that runs, and where its packs say who they are once they score."""

    process: subprocess.Popen[str]
    packs: Told


@contextmanager
def running(folder: Path, evaluator: str, program: Sequence[str] = (EVALSI,)) -> Iterator[Running]:
    (folder / "slow.py").write_text(SLOW)
    write_jsonl(folder / "data.jsonl", [{"output": "x" * 200}] * 5000)
    words = ["eval", "--data", "data.jsonl", "--evaluators", f"./slow.py:{evaluator}", "--output", "results.json"]
    with told(folder / "scoring") as packs:
        process = subprocess.Popen(
            [*program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            yield Running(process, packs)
        finally:
            process.kill()
            process.communicate(timeout=BOUND_S)


def children_of(process: subprocess.Popen[str]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: str(number.name))
def test_one_interrupt_answers_soon_and_keeps_what_was_finished(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path, "busy") as (process, packs):
        packs.line()
        process.send_signal(number)
        out, err = process.communicate(timeout=ANSWER_S)
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
    with running(tmp_path, "stuck") as (process, packs):
        packs.line()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=ANSWER_S)
        assert process.returncode == 130
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["manifest"]["status"] == "partial"


def test_an_interrupt_ends_a_command_whose_data_does_not_come(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data.jsonl")
    words = ["eval", "--data", "data.jsonl", "--evaluators", "exact-match", "--output", "results.json"]
    with subprocess.Popen([EVALSI, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # It opens once the command reads, stays open, and says nothing.
        with (tmp_path / "data.jsonl").open("wb"):
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=ANSWER_S)
        assert process.returncode == 130
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["manifest"]["status"] == "partial"


def test_a_second_interrupt_ends_at_once_and_leaves_no_process(tmp_path: Path) -> None:
    with running(tmp_path, "stuck", (sys.executable, "-c", PATIENT)) as (process, packs):
        packs.line()
        children = children_of(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "stopping" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=ANSWER_S)
        assert (process.returncode, err) == (130, "stopped\n")
        assert still_running(children) == []


def test_a_pack_process_that_is_killed_in_mid_run_costs_at_most_one_record(tmp_path: Path) -> None:
    with running(tmp_path, "busy") as (process, packs):
        first = packs.line()
        os.kill(int(first), signal.SIGKILL)
        assert packs.line() != first
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=ANSWER_S)
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [one["outcome"] for one in found["results"]].count("error") <= 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("evaluator", ["stuck", "greedy"])
def test_no_pack_outlives_a_command_that_is_killed(tmp_path: Path, evaluator: str) -> None:
    with running(tmp_path, evaluator) as (process, packs):
        packs.line()
        children = children_of(process)
        process.kill()
        left = still_running(children)
        for child in left:
            # A promise that is broken must not keep a core busy for ever.
            os.kill(child, signal.SIGKILL)
        assert left == []


def test_an_interrupt_while_a_class_is_being_made_is_no_fault_of_ours() -> None:
    """Python 3.11 wraps it in a RuntimeError, as it does whatever `__set_name__` raises."""

    def command() -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        exit_code_of(command)
