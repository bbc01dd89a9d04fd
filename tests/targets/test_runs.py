"""Runs with targets by the command itself: the guide's agent, what goes on later, and that nothing outlives a run."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import still_running, told
from tests.runs.running import records, results, run, start, write_spec
from tests.targets.service import serving

AGENT = """\
import os, subprocess, sys, time

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(3600)"]

def answer(text):
    if text == "Question 1?" and os.path.exists("pids"):
        child = subprocess.Popen(SLEEP, start_new_session=True)
        with open("pids", "w") as pids:
            pids.write(f"{os.getpid()} {child.pid}\\n")
        time.sleep(3600)
    return "Oslo"
"""
PROGRAM = """\
#!/bin/sh
sleep 3600 &
echo $$ $! > pids
wait
"""


def test_the_agent_of_the_guide_is_run(tmp_path: Path) -> None:
    with serving() as service:
        http = {"url": f"{service.url}/echo", "body_template": '{"message": "{{input}}"}', "output_path": "reply"}
        write_spec(tmp_path, {"agent": {"http": http}}, gates=[{"metric": "exact-match", "max": 0.0}])
        done = run(tmp_path)
    assert done.code == 0, done.err
    value = results(tmp_path)
    assert value["records"][2]["output"] == '{"message": "Question 2?"}!'
    assert value["manifest"]["target"]["connector"] == "http"
    assert value["manifest"]["target_usage"]["input_tokens"] is None


def test_a_budget_that_a_target_cannot_hold_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with serving() as service:
        target = {"connector": "http", "url": f"{service.url}/endless"}
        write_spec(tmp_path, target, budget={"max_target_tokens": 1000})
        done = run(tmp_path)
        assert service.endless_bytes == 0
    assert done.code == 1, done.err
    assert "spec.budget.max_target_tokens cannot be held: the target http does not know" in done.err


def test_a_dry_run_runs_nobody_s_code(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("open('was_here', 'w').close()\ndef answer(text):\n    return text\n")
    write_spec(tmp_path, {"connector": "python", "function": "./agent.py:answer", "timeout_s": 5})
    done = run(tmp_path, "--dry-run")
    assert done.code == 0, done.err
    assert done.out.startswith("4 calls to the target for 4 records: at most tokens that it does not know beforehand")
    assert not (tmp_path / "was_here").exists()


def test_a_service_that_refuses_the_key_stops_the_run_with_one_sentence(tmp_path: Path) -> None:
    with serving() as service:
        target = {"connector": "http", "url": f"{service.url}/status/401", "max_concurrency": 2}
        write_spec(tmp_path, target, records(50))
        done = run(tmp_path)
    assert done.code == 1
    assert done.err.count("error:") == 1
    assert "answered 401" in done.err
    assert "spec.target.headers_env" in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere what a killed run started is left to the system")
@pytest.mark.parametrize("kind", ["python", "command"])
def test_nothing_outlives_a_run_that_is_killed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "agent.sh").write_text(PROGRAM)
    (tmp_path / "agent.sh").chmod(0o755)
    target: dict[str, Any] = {"connector": "python", "function": "./agent.py:answer"}
    if kind == "command":
        target = {"connector": "command", "command": "./agent.sh"}
    write_spec(tmp_path, {**target, "max_concurrency": 1}, records(3))
    with told(tmp_path / "pids") as pids:
        process = start(tmp_path)
        try:
            started = [int(pid) for pid in pids.line().split()]
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    assert len(started) == 2
    assert still_running(started) == []


def test_an_interrupted_run_ends_its_processes_and_goes_on_later(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    write_spec(tmp_path, {"connector": "python", "function": "./agent.py:answer", "max_concurrency": 1}, records(3))
    with told(tmp_path / "pids") as pids:
        process = start(tmp_path)
        try:
            started = [int(pid) for pid in pids.line().split()]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()
    assert still_running(started) == []
    (tmp_path / "pids").unlink()
    again = run(tmp_path)
    assert again.code == 0, again.err
    assert "run-1: 1 of 3 kept, 2 to go" in again.err
    assert [one["output"] for one in results(tmp_path)["records"]] == ["Oslo"] * 3


STRAYS = {
    "a session": "setsid sleep 3600 &",
    "without parents": "(setsid sleep 3600 &)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere what a run started is left to the system")
@pytest.mark.parametrize("how", STRAYS)
@pytest.mark.parametrize("kind", ["python", "command", "evaluator"])
def test_s4_a_child_in_a_session_of_its_own_does_not_survive_the_run(tmp_path: Path, kind: str, how: str) -> None:
    script = tmp_path / "stray.sh"
    stray = "sh -c 'echo $$ >> pids; echo up > $UP; exec sleep 3600' > /dev/null 2>&1"
    script.write_text(
        # It waits until the child is there, or the end of its group would come first.
        f"cd {tmp_path}; export UP=up.$$; mkfifo $UP; {STRAYS[how].replace('sleep 3600', stray)}\nread line < $UP\n"
    )
    call = f"import subprocess; subprocess.run(['sh', {str(script)!r}], cwd={str(tmp_path)!r})"
    (tmp_path / "agent.py").write_text(f"def answer(text):\n    {call}\n    return text\n")
    (tmp_path / "own.py").write_text(f"def own(output):\n    {call}\n    return True\n")
    target = {"connector": "python", "function": "./agent.py:answer"}
    if kind != "python":
        target = {"connector": "command", "command": f"sh -c 'sh {script}; echo x'" if kind == "command" else "cat"}
    evaluators = [{"ref": "./own.py:own" if kind == "evaluator" else "exact-match"}]
    write_spec(tmp_path, target, records(2), evaluators=evaluators)
    with told(tmp_path / "pids") as pids:
        done = run(tmp_path)
        assert done.code == 0, done.err
        assert still_running([int(pids.line()) for _ in range(2)]) == []
