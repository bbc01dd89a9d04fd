"""A command as a target: a process for each record, or one that answers many in lines; nothing of it stays."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Generated, Target
from tests.processes import still_running
from tests.targets.asking import ask, ask_until_settled, failure, failure_of, output_of, problems, with_target

PYTHON = [sys.executable, "-S", "-c"]
LINES = """\
import json, os, sys
kept = []
for line in sys.stdin:
    asked = json.loads(line)
    text = asked.get("input") or asked["record"]["input"]
    answer = {"id": asked["id"], "output": f"{text} {asked['trial']}"}
    if text == "die":
        sys.exit(9)
    if text == "garbage":
        print("Loading model...", flush=True)
        continue
    if text == "stranger":
        answer["id"] = "nobody"
    if text == "fail":
        answer = {"id": asked["id"], "error": "too hard"}
    if text == "silent":
        answer = {"id": asked["id"], "outptu": "x"}
    if text == "rich":
        answer |= {"usage": {"input_tokens": 1, "output_tokens": 2}, "context": ["c"]}
    if text == "last first":
        kept.append(answer)
        if len(kept) < 3:
            continue
        for one in reversed(kept):
            print(json.dumps(one), flush=True)
        continue
    print(json.dumps(answer), flush=True)
"""


def script(code: str) -> list[str]:
    return [*PYTHON, code]


def test_the_input_comes_on_stdin_and_what_is_written_is_the_output(tmp_path: Path) -> None:
    assert output_of("command", tmp_path, "hello", command=["tr", "a-z", "A-Z"]) == "HELLO"
    assert output_of("command", tmp_path, "two\n", command="cat") == "two"
    assert output_of("command", tmp_path, {"json": {"a": 1}}, command="cat") == '{"a": 1}'
    assert output_of("command", tmp_path, "x", command="true") == ""


def test_the_whole_record_comes_as_json_and_a_path_finds_the_output(tmp_path: Path) -> None:
    record = {"metadata": {"topic": "sums"}}
    how: dict[str, Any] = {"command": "cat", "input": "json"}
    assert output_of("command", tmp_path, "x", record, output_path="metadata.topic", **how) == "sums"
    error = failure_of("command", tmp_path, "x", record, output_path="answer", **how)
    assert "without answer: the reply has id, input, metadata" in error.error.message
    error = failure_of("command", tmp_path, "hello", command="cat", output_path="answer")
    assert error.error.message == 'The command cat wrote what is no JSON: "hello".'


def test_what_a_record_says_is_one_argument_and_never_a_command(tmp_path: Path) -> None:
    text = "$(touch here); `touch here` \"x\" 'y' --flag *"
    command = ["printf", "%s|", "{{input}}", "of {{metadata.n}}"]
    assert output_of("command", tmp_path, text, {"metadata": {"n": 5}}, command=command) == f"{text}|of 5|"
    assert list(tmp_path.iterdir()) == []


def test_a_shell_reads_a_command_only_where_it_is_said(tmp_path: Path) -> None:
    assert output_of("command", tmp_path, "b\na", command="sort | head -n 1", shell=True) == "a"
    assert output_of("command", tmp_path, command="echo a | b") == "a | b"


def test_it_gets_the_variables_that_are_named_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANTED", "1")
    monkeypatch.setenv("UNWANTED", "1")
    seen = output_of("command", tmp_path, command="env", env={"MODE": "fast"}, env_from=["WANTED"]).splitlines()
    names = {line.partition("=")[0] for line in seen}
    assert {"MODE", "WANTED", "PATH"} <= names
    assert names <= {"MODE", "WANTED", "PATH", "HOME", "LANG", "TMPDIR", "EVALSI_TARGET_OF", "EVALSI_STARTED_BY"}


def test_what_is_missing_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"spec.target.env_from names NO_SUCH, which is not set"):
        output_of("command", tmp_path, command="cat", env_from=["NO_SUCH"])
    with pytest.raises(ConfigError, match="no such program on the PATH"):
        output_of("command", tmp_path, command="no-such-program --x")
    (tmp_path / "agent.sh").write_text("#!/bin/sh\ncat\n")
    with pytest.raises(ConfigError, match=r"spec.target.command names ./agent.sh, and there is no such program in"):
        output_of("command", tmp_path, command="./agent.sh")
    (tmp_path / "agent.sh").chmod(0o755)
    assert output_of("command", tmp_path, "x", command="./agent.sh") == "x"


def test_an_exit_code_that_is_not_zero_is_an_error_with_the_last_of_stderr(tmp_path: Path) -> None:
    code = "import sys; print('half an answer'); sys.stderr.write('line\\n' * 50 + 'no route to model\\n'); sys.exit(2)"
    error = failure_of("command", tmp_path, command=script(code))
    assert (error.error.code, error.error.retry, error.is_final) == ("target.failed", "no", False)
    assert "ended with exit code 2" in error.error.message
    assert error.error.message.count("line") == 4
    assert 'no route to model"' in error.error.message
    assert "was killed by SIGKILL" in failure_of("command", tmp_path, command="kill -9 $$", shell=True).error.message


def test_one_that_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    command = "sleep 3600 & echo $! $$ > pids; echo still thinking >&2; wait"
    error = failure_of("command", tmp_path, command=command, shell=True, timeout_s=0.5)
    assert (error.error.code, error.error.retry) == ("target.timeout", "no")
    assert 'It wrote: "still thinking"' in error.error.message
    assert still_running(map(int, (tmp_path / "pids").read_text().split())) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere what a process starts is left to the system")
def test_what_it_leaves_behind_holds_up_nothing_and_is_ended(tmp_path: Path) -> None:
    command = "sleep 3600 & echo $! > pids; setsid sleep 3600 & echo $! >> pids; echo done"
    assert output_of("command", tmp_path, command=command, shell=True) == "done"
    assert still_running(map(int, (tmp_path / "pids").read_text().split())) == []


def test_output_without_end_is_given_up_while_it_is_read(tmp_path: Path) -> None:
    error = failure_of("command", tmp_path, command="yes")
    assert error.error.code == "target.output"
    assert "wrote more than 32 MiB" in error.error.message


def test_a_long_output_and_a_long_input_that_nobody_reads_are_no_trouble(tmp_path: Path) -> None:
    text = "x" * (4 * 2**20)
    assert output_of("command", tmp_path, text, command="cat") == text
    assert output_of("command", tmp_path, text, command="echo done") == "done"


def test_what_cannot_be_an_argument_is_an_error_of_its_item(tmp_path: Path) -> None:
    command = ["echo", "{{input}}"]
    assert failure_of("command", tmp_path, "a\0b", command=command).error.code == "target.input"
    error = failure_of("command", tmp_path, "x" * 2**20, command=command)
    assert "Argument list too long" in error.error.message
    assert (error.error.code, error.is_final) == ("target.failed", False)
    assert "no UTF-8" in failure_of("command", tmp_path, command=["printf", "\\377"]).error.message


def test_the_state_of_its_files_tells_one_command_from_another(tmp_path: Path) -> None:
    async def used(target: Target) -> Any:
        return json.loads(json.dumps(dict(target.identity)))

    (tmp_path / "agent.py").write_text("1\n")
    how: dict[str, Any] = {"command": "python agent.py --fast", "env_from": ["PATH"]}
    before = with_target("command", tmp_path, used, **how)
    assert before == with_target("command", tmp_path, used, timeout_s=5.0, **how)
    (tmp_path / "agent.py").write_text("2\n")
    after = with_target("command", tmp_path, used, **how)
    assert before["sha256"].keys() == {"agent.py"}
    assert before["sha256"] != after["sha256"]
    assert before["env_from"] == ["PATH"]


@pytest.fixture
def lines(tmp_path: Path) -> dict[str, Any]:
    """A command that answers in lines, beside the spec."""
    (tmp_path / "lines.py").write_text(LINES)
    return {"command": [sys.executable, "-S", "lines.py"], "mode": "lines"}


def test_one_process_answers_many_in_any_order(tmp_path: Path, lines: dict[str, Any]) -> None:
    async def used(target: Target) -> list[Any]:
        calls = [ask(target, "last first", trial) for trial in (1, 2, 3)]
        return [one.output for one in await asyncio.gather(*calls)]

    assert with_target("command", tmp_path, used, **lines) == ["last first 1", "last first 2", "last first 3"]
    assert output_of("command", tmp_path, "whole", input="json", **lines) == "whole 1"


def test_an_answer_in_a_line_may_bring_more_or_be_an_error(tmp_path: Path, lines: dict[str, Any]) -> None:
    async def used(target: Target) -> tuple[Generated, Any, Any]:
        return await ask(target, "rich"), await failure(ask(target, "fail")), await failure(ask(target, "silent"))

    rich, failed, silent = with_target("command", tmp_path, used, **lines)
    assert (rich.tokens.input, rich.tokens.output, rich.fields) == (1, 2, {"context": ["c"]})
    assert failed.error.message.endswith("says: too hard.")
    assert (silent.error.code, silent.is_final) == ("target.output", False)
    assert "answered without output, only with outptu" in silent.error.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("die", "ended with exit code 9"),
        ("garbage", 'wrote a line to stdout that is no answer: "Loading model..."'),
        ("stranger", "wrote an answer to no call that waits for one"),
    ],
)
def test_a_process_that_breaks_is_started_again_and_its_cause_alone_is_an_error(
    tmp_path: Path, lines: dict[str, Any], text: str, told: str
) -> None:
    async def used(target: Target) -> list[Any]:
        texts = ["a", text, "b"]
        calls = (ask_until_settled(target, one) for one in texts)
        return list(await asyncio.gather(*calls, return_exceptions=True))

    first, broken, last = with_target("command", tmp_path, used, **lines)
    assert (first.output, last.output) == ("a 1", "b 1")
    assert told in broken.error.message
    assert (broken.error.retry, broken.is_final) == ("no", False)


def test_one_that_leaves_after_each_answer_is_started_for_each(tmp_path: Path) -> None:
    async def used(target: Target) -> list[Any]:
        return [(await ask_until_settled(target, str(number))).output for number in range(5)]

    code = "import json\nasked = json.loads(input())\nprint(json.dumps({'id': asked['id'], 'output': asked['input']}))"
    assert with_target("command", tmp_path, used, command=script(code), mode="lines") == list("01234")


def test_one_that_writes_nothing_but_garbage_stops_the_run(tmp_path: Path, lines: dict[str, Any]) -> None:
    async def used(target: Target) -> list[Any]:
        return [await failure(ask(target, "garbage", trial)) for trial in (1, 2, 3)]

    made = with_target("command", tmp_path, used, **lines)
    assert [one.is_final for one in made] == [False, False, True]
    assert "everything else to stderr" in made[0].error.hint


def test_a_line_without_end_is_given_up(tmp_path: Path) -> None:
    code = "import sys\nsys.stdin.readline()\nwhile True: sys.stdout.write('x' * 2**20)"
    error = failure_of("command", tmp_path, command=script(code), mode="lines")
    assert "wrote a line of more than 32 MiB" in error.error.message


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"command": 5}, "spec.target.command must be one text, or a list of texts."),
        ({"command": ["a", 1]}, "spec.target.command must be one text, or a list of texts."),
        ({"command": []}, "spec.target.command names no program"),
        ({"command": " "}, "spec.target.command names no program"),
        ({"command": "a 'b"}, "spec.target.command cannot be cut into words"),
        ({"command": ["a"], "shell": True}, "has shell: true, and its command is a list"),
        ({"command": "echo {{input}}", "shell": True}, "a shell reads, which would run what a record says"),
        ({"command": ["{{input}}"]}, "lets a record say which program is run"),
        ({"command": "a {{inptu}}"}, 'Did you mean "input"?'),
        ({"command": "a {{input}}", "mode": "lines"}, "mode: lines starts it once"),
        ({"command": "a", "mode": "lines", "output_path": "x"}, "mode: lines answers with output"),
        ({"command": "a", "mode": "line"}, "spec.target.mode must be 'per-record' or 'lines'"),
        ({"command": "a", "env": {"OPENAI_API_KEY": "x"}}, "env_from: [OPENAI_API_KEY]"),
        ({"command": "a", "env_from": ["A B"]}, 'has "A B", which is no name of a variable'),
        ({"command": "a", "comand": 1}, "spec.target.comand is not a known key"),
    ],
)
def test_what_is_wrong_with_its_keys_is_told_with_its_place(options: dict[str, Any], told: str) -> None:
    assert told in " ".join(problems("command", **options))


def test_braces_that_are_meant_for_the_program_stay(tmp_path: Path) -> None:
    assert output_of("command", tmp_path, command=["echo", "{{.Names}} {x}"]) == "{{.Names}} {x}"


def test_variables_that_only_look_secret_are_taken() -> None:
    assert (
        problems("command", command="a", env={"MAX_TOKENS": "5", "TOKENIZERS_PARALLELISM": "false", "KEYS": "1"}) == []
    )


SLOW = """\
import json, sys, time
time.sleep(1)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "output": asked["input"]}), flush=True)
"""


def test_what_the_start_of_a_process_in_lines_takes_is_not_the_time_of_a_call(tmp_path: Path) -> None:
    """It does not say when it has started; it begins to read then."""

    async def used(target: Target) -> tuple[list[Generated], Generated]:
        return await asyncio.gather(*(ask(target, f"{number}") for number in range(20))), await ask(target, "later")

    made, later = with_target("command", tmp_path, used, command=[sys.executable, "-c", SLOW], mode="lines")
    assert [one.output for one in made] == [f"{number}" for number in range(20)]
    assert min(one.waited_s for one in made) >= 1
    assert later.waited_s == 0


def test_one_that_dies_before_it_reads_holds_nobody_up(tmp_path: Path) -> None:
    async def used(target: Target) -> list[ProviderError]:
        return await asyncio.gather(*(failure(ask_until_settled(target, f"{number}")) for number in range(5)))

    failed = with_target("command", tmp_path, used, command=script("import sys; sys.exit(3)"), mode="lines")
    assert all("ended with exit code 3" in one.error.message for one in failed)
    assert any(one.is_final for one in failed)


def test_one_that_never_reads_fails_each_call_in_time(tmp_path: Path) -> None:
    async def used(target: Target) -> list[ProviderError]:
        return await asyncio.gather(*(failure(ask_until_settled(target, f"{number}")) for number in range(3)))

    code = "import time; time.sleep(600)"
    failed = with_target("command", tmp_path, used, command=script(code), mode="lines", timeout_s=0.2)
    assert {one.error.code for one in failed} == {"target.timeout"}


@pytest.mark.parametrize("code", [69, 75])
def test_g2_a_temporary_failure_of_a_command_may_be_an_outage(tmp_path: Path, code: int) -> None:
    error = failure_of("command", tmp_path, command=["sh", "-c", f"exit {code}"])
    assert (error.error.code, error.error.retry) == ("provider.failed", "later")
