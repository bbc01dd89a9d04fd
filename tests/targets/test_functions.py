"""A Python function as a target: in a process of its own, which may do anything but harm the run."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Generated, Target, TargetInput
from tests.processes import still_running
from tests.runs.running import write_spec
from tests.targets.asking import ask, ask_until_settled, failure, failure_of, output_of, problems, with_target
from tests.targets.running_here import run_here

CODE = """\
import asyncio, os, subprocess, sys, threading, time

both = threading.Barrier(2, timeout=60)
waiting = 0

def shout(text):
    print("printed to stdout")
    os.write(1, b"written to descriptor 1\\n")
    return text.upper()

def whole(record, trial=0):
    return f"{record['id']} {record['metadata']['topic']} {trial}"

def extras(text):
    return {"output": text, "usage": {"input_tokens": 3, "completion_tokens": 4, "cost_usd": 0.5},
            "trajectory": [{"type": "tool", "name": "search"}], "context": ["a"], "metadata": {"step": 1}}

def as_it_is(value):
    return value

def together(text):
    both.wait()
    return text

async def both_waiting(text):
    global waiting
    waiting += 1
    while waiting < 2:
        await asyncio.sleep(0.001)
    return text

class Agent:
    async def __call__(self, text):
        return f"agent {text}"
    def method(self, text):
        return f"method {text}"

agent = Agent()

def returns(text):
    if text == "big":
        return "x" * (33 * 10**6)
    return {"none": None, "object": object(), "nan": float("nan"), "pair": {1, 2}, "empty": ""}[text]

def fails(text):
    if text == "exit":
        sys.exit(3)
    raise ValueError(f"no {text}")

async def fails_later(text):
    await asyncio.sleep(0)
    raise ValueError(f"no {text}")

class Refused(Exception):
    def __init__(self, status):
        super().__init__(f"HTTP {status}")
        self.response = type("Response", (), {"status_code": status, "headers": {"retry-after": "7"}})

def refused(text):
    raise Refused(int(text))

def no_service(text):
    try:
        raise ConnectionRefusedError(111, "refused")
    except OSError as error:
        raise RuntimeError(f"no {text}") from error

def fragile(text):
    if text == "poison":
        os._exit(7)
    return text

def crashes(text):
    print("about to crash", file=sys.stderr)
    os.abort()

def hangs(text):
    if text == "hang":
        with open("pid", "w") as file:
            file.write(str(os.getpid()))
        time.sleep(3600)
    return text

def reads(text):
    return repr(sys.stdin.read())

def leaves(text):
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"], start_new_session=True)
    return [os.getpid(), child.pid]

def wrapper(*args, **kwargs):
    return shout(*args, **kwargs)

def two(one, other):
    return one

def none():
    return ""

number = 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(CODE)
    return tmp_path


def named(name: str) -> dict[str, Any]:
    return {"function": f"./agent.py:{name}"}


def test_a_function_gets_the_input_and_gives_the_output_whatever_it_prints(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert output_of("python", folder, "hello", **named("shout")) == "HELLO"
    assert capfd.readouterr().err.splitlines() == ["printed to stdout", "written to descriptor 1"]


def test_a_module_beside_the_spec_is_found_and_so_are_objects_in_it(folder: Path) -> None:
    assert output_of("python", folder, "x", function="agent:agent.method") == "method x"
    assert output_of("python", folder, "x", function="agent:agent") == "agent x"
    assert output_of("python", folder, "x", function="agent:wrapper") == "X"


def test_a_function_of_a_record_gets_the_whole_of_it_and_the_trial_where_it_asks(folder: Path) -> None:
    record = {"metadata": {"topic": "sums"}}
    made = with_target("python", folder, lambda target: ask(target, "x", 2, **record), **named("whole"))
    assert made.output == "of x sums 2"


def test_what_goes_with_an_output_is_taken_with_it(folder: Path) -> None:
    made: Generated = with_target("python", folder, ask, **named("extras"))
    assert (made.output, made.tokens.input, made.tokens.output, made.cost_usd) == ("hello", 3, 4, 0.5)
    assert made.fields == {"trajectory": {"steps": [{"type": "tool", "name": "search"}]}, "context": ["a"]}
    assert made.metadata == {"step": 1}


def test_any_json_is_an_output_also_an_object_that_has_an_output_among_other_keys(folder: Path) -> None:
    for value in ([1, "a"], {"a": 1}, {"output": 1, "more": 2}, 5, False):
        assert output_of("python", folder, {"json": value}, **named("as_it_is")) == value


def test_messages_come_as_messages(folder: Path) -> None:
    given = {"messages": [{"role": "user", "content": "hi"}]}
    assert output_of("python", folder, given, **named("as_it_is")) == given


@pytest.mark.parametrize("name", ["together", "both_waiting"])
def test_calls_are_in_flight_at_once(folder: Path, name: str) -> None:
    async def used(target: Target) -> list[Any]:
        return [one.output for one in await asyncio.gather(ask(target, "a"), ask(target, "b"))]

    assert with_target("python", folder, used, at_once=2, **named(name)) == ["a", "b"]


def test_what_is_no_output_is_an_error_and_an_empty_text_is_one(folder: Path) -> None:
    async def used(target: Target) -> list[str]:
        assert (await ask(target, "empty")).output == ""
        return [(await failure(ask(target, text))).error.message for text in ("none", "big", "object", "nan", "pair")]

    none, big, thing, nan, pair = with_target("python", folder, used, **named("returns"))
    assert "gave null as its output" in none
    assert "takes more than 32 MB" in big
    assert "object is not JSON serializable" in thing
    assert "cannot be written as JSON" in nan
    assert "set is not JSON serializable" in pair


def test_an_exception_is_the_error_of_its_item_alone(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def used(target: Target) -> list[Any]:
        return [await failure(ask(target, text)) for text in ("luck", "exit")]

    raised, left = with_target("python", folder, used, **named("fails"))
    assert raised.error.message == "The function ./agent.py:fails raised ValueError: no luck."
    assert (raised.error.code, raised.error.retry, raised.is_final) == ("target.failed", "no", False)
    assert "raised SystemExit: 3." in left.error.message
    told = capfd.readouterr().err
    assert "ValueError: no luck" in told
    assert "function_worker" not in told


@pytest.mark.parametrize("name", ["fails", "fails_later"])
def test_what_fails_in_one_place_is_shown_once_however_many_calls_it_fails(
    folder: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    async def used(target: Target) -> list[Any]:
        return await asyncio.gather(*(failure(ask(target, str(number))) for number in range(20)))

    raised = with_target("python", folder, used, **named(name))
    assert len({one.error.message for one in raised}) == 20
    assert capfd.readouterr().err.count("Traceback") == 1


def test_a_service_that_refuses_the_function_is_waited_for_as_if_the_run_had_asked_it(folder: Path) -> None:
    async def used(target: Target) -> list[Any]:
        return [await failure(ask(target, status)) for status in ("429", "503", "401")]

    throttled, down, refused = with_target("python", folder, used, **named("refused"))
    assert (throttled.error.code, throttled.error.retry, throttled.retry_after_s) == (
        "provider.rate_limited",
        "later",
        7,
    )
    assert (down.error.code, down.error.retry) == ("provider.failed", "later")
    assert (refused.error.code, refused.error.retry, refused.is_final) == ("target.failed", "no", False)
    assert "raised Refused: HTTP 401." in refused.error.message


def test_a_crash_is_the_error_of_the_call_that_caused_it_and_of_no_other(folder: Path) -> None:
    async def used(target: Target) -> list[Any]:
        texts = ["a", "b", "poison", "c", "d", "e"]
        calls = (ask_until_settled(target, text) for text in texts)
        return list(await asyncio.gather(*calls, return_exceptions=True))

    made = with_target("python", folder, used, **named("fragile"))
    poison = made.pop(2)
    assert [one.output for one in made] == ["a", "b", "c", "d", "e"]
    assert poison.error.message.startswith("The function ./agent.py:fragile ended with exit code 7")
    assert (poison.error.code, poison.error.retry, poison.is_final) == ("target.failed", "no", False)


def test_three_crashes_in_a_row_are_the_last(folder: Path) -> None:
    async def used(target: Target) -> list[Any]:
        return [await failure(ask(target, str(number))) for number in range(3)]

    made = with_target("python", folder, used, **named("crashes"))
    assert [one.is_final for one in made] == [False, False, True]
    assert 'was killed by SIGABRT, and wrote "about to crash' in made[0].error.message
    assert made[2].error.message.endswith("That was 3 times in a row, without an answer between.")


def test_a_hang_ends_the_process_and_the_next_call_has_another(folder: Path) -> None:
    async def used(target: Target) -> Any:
        hung, other = await asyncio.gather(
            failure(ask(target, "hang")), ask_until_settled(target, "a"), return_exceptions=False
        )
        return hung, other, (await ask_until_settled(target, "b")).output

    hung, other, after = with_target("python", folder, used, timeout_s=1.0, **named("hangs"))
    assert (hung.error.code, hung.error.retry) == ("target.timeout", "no")
    assert (other.output, after) == ("a", "b")
    assert still_running([int((folder / "pid").read_text())]) == []


def test_a_function_reads_nothing_from_the_run(folder: Path) -> None:
    assert output_of("python", folder, **named("reads")) == "''"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere what a process starts is left to the system")
def test_nothing_outlives_the_target_also_in_a_session_of_its_own(folder: Path) -> None:
    started = output_of("python", folder, **named("leaves"))
    assert len(started) == 2
    assert still_running(started) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("./agent.py:shuot", "cannot be loaded: there is no shuot in ./agent.py, only shout, whole, extras"),
        ("./agent.py:number", "cannot be loaded: number in ./agent.py cannot be called"),
        ("./agent.py:two", "needs other too"),
        ("./agent.py:none", "takes no argument by its position"),
        ("./broken.py:f", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("./leaves.py:f", "cannot be loaded: its process ended with exit code 4"),
        ("no_such_module:f", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_function_that_cannot_be_had_stops_the_run_at_its_first_call(folder: Path, name: str, told: str) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "leaves.py").write_text("import os\nos._exit(4)\n")
    error = failure_of("python", folder, function=name)
    assert (error.error.code, error.is_final) == ("target.failed", True)
    assert told in error.error.message


def test_a_file_that_is_not_there_is_found_before_anything_is_asked(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"spec.target.function names ./nowhere.py, and there is no such file"):
        output_of("python", folder, function="./nowhere.py:f")


@pytest.mark.parametrize("name", ["./agent.py:shout", "agent:shout"])
def test_the_state_of_its_file_tells_one_function_from_another_and_nothing_secret_does(folder: Path, name: str) -> None:
    async def used(target: Target) -> dict[str, Any]:
        return dict(target.identity)

    before = with_target("python", folder, used, function=name)
    assert before == with_target("python", folder, used, at_once=3, timeout_s=5.0, function=name)
    (folder / "agent.py").write_text(CODE + "\n# changed\n")
    after = with_target("python", folder, used, function=name)
    assert before["function"] == after["function"] == name
    assert before["sha256"] != after["sha256"]
    assert before.keys() == {"connector", "function", "sha256"}


def test_a_record_without_an_input_is_an_error_of_its_own(folder: Path) -> None:
    async def used(target: Target) -> Any:
        return await failure(target.generate(TargetInput({"id": "r1"}, 1)))

    assert "the record has none" in with_target("python", folder, used, **named("shout")).error.message


@pytest.mark.parametrize("name", ["agent.py", "agent", ":f", "agent:", "agent:f()", "./agent.py:f g", "a-b:f"])
def test_what_names_no_function_is_told(name: str) -> None:
    [told] = problems("python", function=name)
    assert "Write ./file.py:function or module:function." in told


def test_it_runs_in_another_process_in_the_folder_of_the_spec(folder: Path) -> None:
    (folder / "where.py").write_text("import os\ndef f(_):\n    return [os.getpid(), os.getcwd()]\n")
    pid, place = output_of("python", folder, function="where:f")
    assert pid != os.getpid()
    assert place == str(folder)


def test_what_its_imports_take_is_not_the_time_of_a_call(tmp_path: Path) -> None:
    """All calls that are in flight at the start wait for the process, and would all be as slow as its start."""
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1)\n\ndef answer(text):\n    return text\n")
    rows = [{"id": f"r{number}", "question": "?", "answer": "?"} for number in range(20)]
    target = {"connector": "python", "function": "./slow.py:answer"}
    _, results = run_here(write_spec(tmp_path, target, rows))
    assert min(one["usage"]["latency_ms"] for one in results["records"]) < 1000


def test_g2_a_lost_connection_to_a_service_may_be_an_outage(folder: Path) -> None:
    error = failure_of("python", folder, "service", **named("no_service"))
    assert (error.error.code, error.error.retry) == ("provider.connection", "later")
