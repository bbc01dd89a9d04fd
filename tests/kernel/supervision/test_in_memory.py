"""Functions at hand are supervised as a pack is, though they run in a thread of this process: errors, hangs, exits."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest

import evalsi
from evalsi import Record
from evalsi_kernel.errors import UsageError
from tests.untimed import untimed

ROWS: list[dict[str, Any]] = [{"output": text} for text in ("good", "bad", "good")]

HANGS = """
import time
from evalsi.host import Host
from evalsi.loading import from_objects
from evalsi_kernel.supervision.launch import Launch, PoolLimits
from tests.kernel.supervised import chunk_of, score

def stuck(record):
    while record.output.as_text() == "bad":
        time.sleep(0.01)
    return True

definitions = from_objects([stuck])
here = Launch("here", serve=lambda channel: Host(channel, "here", "1", lambda: definitions).serve())
[column], _ = score(here, "stuck", chunk_of(["good", "bad", "good"]), limits=PoolLimits(record_timeout_s=1.0))
print([outcome[1]["code"] if outcome[0] == "error" else outcome[0] for outcome in column])
"""

HAS_ITS_TIME = """
import time
import evalsi

def stuck(record):
    while record.output.as_text() == "bad":
        time.sleep(0.01)
    return True

rows = [{"output": text} for text in ("good", "bad", "good")]
result = evalsi.evaluate(rows, [stuck], record_timeout_s=0.5, quiet=True)
print([one.get("reason", one["outcome"]) for one in result.results])
"""


def good(record: Record) -> bool:
    return record.output.as_text() == "good"


def leaves(record: Record) -> bool:
    if record.output.as_text() == "bad":
        sys.exit(1)
    return True


def test_a_function_that_hangs_is_an_error_of_its_record_and_holds_up_neither_the_run_nor_the_exit() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HANGS], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout == "['scored', 'pack.timeout', 'scored']\n", done.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_a_script_says_how_long_a_record_may_take_its_functions() -> None:
    command = [sys.executable, "-W", "error", "-c", HAS_ITS_TIME]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout == "['scored', 'No answer for this record within 0.5 s.', 'scored']\n", done.stderr
    with pytest.raises(UsageError, match="record_timeout_s is 0"):
        evalsi.evaluate(ROWS, [good], record_timeout_s=0, quiet=True)


def test_a_function_that_exits_costs_its_record_and_not_the_script() -> None:
    summary = evalsi.evaluate(ROWS, [leaves], quiet=True)["leaves"]
    assert (summary.n, summary.errors, summary.mean) == (2, 1, 1.0)


def test_an_evaluation_runs_inside_a_running_event_loop_as_in_a_notebook() -> None:
    async def cell() -> float | None:
        return evalsi.evaluate(ROWS, [good, "length"], quiet=True)["good"].mean

    assert asyncio.run(cell()) == 2 / 3


def test_an_evaluation_runs_in_a_thread_beside_another() -> None:
    found: list[float | None] = []

    def work() -> None:
        found.append(evalsi.evaluate(ROWS, [good, "length"], quiet=True)["good"].mean)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [2 / 3, 2 / 3]


def test_two_evaluations_of_one_script_give_the_same_and_leave_no_thread() -> None:
    before = set(threading.enumerate())
    first = evalsi.evaluate(ROWS, [good], quiet=True)
    second = evalsi.evaluate(ROWS, [good], quiet=True)
    assert untimed(first.results) == untimed(second.results)
    assert first.summaries == second.summaries
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive(), thread.name
