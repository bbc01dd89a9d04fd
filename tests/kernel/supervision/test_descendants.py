"""S4, P9: what an evaluator starts does not survive the run, also in a session of its own and without parents."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_kernel.supervision.descendants import Descendants
from evalsi_kernel.supervision.launch import Command, Launch
from evalsi_kernel.supervision.pack_process import attach
from evalsi_kernel.supervision.spawn import spawn
from tests.kernel.supervised import bounded
from tests.processes import still_running, told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is left to the system")

SLEEPS = f"exec {sys.executable} -S -c 'import os, time; print(os.getpid(), flush=True); time.sleep(3600)' > pids"
CHILDREN = {
    "in its group": f"sh -c {SLEEPS!r} &",
    "in a session": f"setsid sh -c {SLEEPS!r} &",
    "without parents": f"(setsid sh -c {SLEEPS!r} &);",
    "without variables": f"env -i setsid sh -c {SLEEPS!r} &",
}


def parent(child: str, rest: str) -> Command:
    return Command(["/bin/sh", "-c", f"{child} {rest}"], whole_environment=True)


@pytest.mark.parametrize("how", CHILDREN)
@pytest.mark.parametrize("ending", ["killed", "stopped", "by itself"])
def test_s4_a_child_does_not_survive_the_pack(how: str, ending: str, tmp_path: Path) -> None:
    rest = "read line; exit 0" if ending == "by itself" else "while read line; do :; done; sleep 3600"
    command = parent(CHILDREN[how], rest)._replace(cwd=tmp_path)
    with told(tmp_path / "pids") as pids:
        spawned = spawn(Launch("leaves", command))
        child = int(pids.line())
        if ending == "killed":
            spawned.kill()
        else:

            async def stopped() -> None:
                process = await attach(spawned)
                process.transport.close_writing()
                await process.stop()

            bounded(stopped)
        assert still_running([child]) == []


def test_s4_orphans_are_adopted_only_while_something_runs(tmp_path: Path) -> None:
    def adopts() -> int:
        answer = ctypes.c_int(0)
        ctypes.CDLL(None).prctl(37, ctypes.byref(answer), 0, 0, 0)
        return answer.value

    assert adopts() == 0
    spawned = spawn(Launch("waits", parent("", "read line")))
    assert adopts() == 1
    spawned.kill()
    assert adopts() == 0


def test_s4_children_of_others_are_left_alone() -> None:
    sleep = [sys.executable, "-S", "-c", "import time; time.sleep(3600)"]
    other = subprocess.Popen(sleep, start_new_session=True)
    try:
        first = spawn(Launch("first", parent("", "read line")))
        second = spawn(Launch("second", parent("", "read line")))
        first.kill()
        assert second.process.poll() is None
        assert other.poll() is None
        second.kill()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_s4_no_adopted_process_is_left_as_a_zombie(tmp_path: Path) -> None:
    with told(tmp_path / "pids") as pids:
        spawned = spawn(Launch("leaves", parent(CHILDREN["without parents"], "read line")._replace(cwd=tmp_path)))
        child = int(pids.line())
        spawned.kill()
        assert not os.path.exists(f"/proc/{child}")


def test_s4_ending_twice_does_nothing_more() -> None:
    descendants = Descendants()
    process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env=descendants.variables, start_new_session=True)
    descendants.sessions.add(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    descendants.end()
    descendants.end()
