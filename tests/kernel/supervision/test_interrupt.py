"""Ctrl-C in a script and in a notebook: once, it answers with what is finished; twice, it ends at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

SCRIPT = """
import asyncio, sys, threading, time
import evalsi
from evalsi import evaluator

@evaluator
def stuck(record) -> bool:
    print("scoring", flush=True)
    while True:
        time.sleep(0.01)

@evaluator(scope="dataset")
class StuckWhole:
    def observe(self, record):
        return 1
    def aggregate(self, states):
        print("scoring", flush=True)
        while True:
            time.sleep(0.01)

def silent():
    yield {"output": "a"}
    print("scoring", flush=True)
    threading.Event().wait()

@evaluator
def quick(record) -> bool:
    return True

def evaluate():
    what = {"record": stuck, "whole": StuckWhole, "silent": quick}[sys.argv[2]]
    try:
        result = evalsi.evaluate(silent() if what is quick else [{"output": "a"}] * 3, [what])
    except KeyboardInterrupt:
        print("interrupted")
    else:
        print(result.status, result.summaries[0].n, result.summaries[0].cancelled)

async def notebook():
    evaluate()

if len(sys.argv) > 3:
    from evalsi_kernel.supervision import engine
    engine.GRACE_S = float(sys.argv[3])
if sys.argv[1] == "script":
    evaluate()
elif sys.argv[1] == "notebook":
    asyncio.run(notebook())
"""
LATE = """
import sys, threading
start = threading.Thread.start

def late(thread):
    start(thread)
    if thread.name == "evalsi-evaluate":
        sys.stdin.readline()

threading.Thread.start = late
"""
"""The thread of a notebook goes on only when it is told to, long after the run in its other thread has begun."""
BOUND_S = 20.0  # The promise is a second; what does not answer runs for a minute and more.


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


@pytest.mark.parametrize("where", ["script", "notebook"])
@pytest.mark.parametrize(("what", "cancelled"), [("record", 3), ("whole", 0)])
def test_one_interrupt_of_an_evaluator_at_hand_that_hangs_returns_a_partial_result(
    where: str, what: str, cancelled: int
) -> None:
    with started("-c", SCRIPT, where, what) as process:
        assert read_line(process.stdout) == "scoring"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=BOUND_S)
    assert out.splitlines() == [f"partial 0 {cancelled}"], err
    assert process.returncode == 0
    assert err.splitlines() == ["stopping; what is finished is kept (Ctrl-C again stops at once)"]


def test_an_interrupt_reaches_a_run_in_a_notebook_however_late_the_notebooks_own_thread_goes_on() -> None:
    with started("-c", LATE + SCRIPT, "notebook", "record") as process:
        assert read_line(process.stdout) == "scoring"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate("go on\n", timeout=BOUND_S)
    assert out.splitlines() == ["partial 0 3"], err


@pytest.mark.parametrize("where", ["script", "notebook"])
def test_one_interrupt_of_a_reader_that_is_silent_ends_the_run_and_the_program(where: str) -> None:
    with started("-c", SCRIPT, where, "silent") as process:
        assert read_line(process.stdout) == "scoring"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=BOUND_S)
    assert out.startswith("partial "), err
    assert process.returncode == 0


@pytest.mark.parametrize("where", ["script", "notebook"])
def test_two_interrupts_are_a_keyboard_interrupt_at_once(where: str) -> None:
    grace_s = "60"  # The second never comes too late.
    with started("-c", SCRIPT, where, "record", grace_s) as process:
        assert read_line(process.stdout) == "scoring"
        process.send_signal(signal.SIGINT)
        assert read_line(process.stderr).startswith("stopping")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=BOUND_S)
    assert (process.returncode, out.splitlines(), err) == (0, ["interrupted"], "")
