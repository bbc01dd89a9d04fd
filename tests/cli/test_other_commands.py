"""Test `catalog`, `doctor`, `version`, `completion` and `--help`."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.cli.running import evalsi


def test_catalog_lists_every_evaluator_with_what_it_needs_and_takes() -> None:
    done = evalsi("catalog")
    assert done.code == 0
    assert "core 0.4.0" in done.out
    assert "exact-match@1" in done.out
    assert "params: normalize=true, ignore_punctuation=false" in done.out
    assert "corpus-bleu@2" in done.out


def test_catalog_can_be_one_pack_and_json() -> None:
    found = json.loads(evalsi("catalog", "--pack", "text", "--format", "json").out)
    [pack] = found["packs"]
    assert pack["name"] == "text"
    assert {one["name"] for one in pack["evaluators"]} == {"bleu", "corpus-bleu", "chrf", "rouge", "token-f1"}


def test_catalog_of_an_unknown_pack_names_the_nearest() -> None:
    done = evalsi("catalog", "--pack", "cor")
    assert (done.code, done.out) == (1, "")
    assert 'Did you mean "core"?' in done.err


def test_doctor_says_what_is_well() -> None:
    done = evalsi("doctor")
    assert done.code == 0, done.out
    assert "pack core: environment ready" in done.out or "pack core: environment not built yet" in done.out


def test_doctor_starts_a_pack_and_compares_it_with_its_manifest() -> None:
    done = evalsi("doctor", "core")
    assert done.code == 0, done.out
    assert "starts, and its 12 evaluators agree with plugin.toml" in done.out


def test_version_is_one_line_or_json() -> None:
    assert evalsi("version").out == evalsi("--version").out == "evalsi 0.4.0\n"
    assert json.loads(evalsi("version", "--format", "json").out)["protocol"] == [1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(shell: str) -> None:
    done = evalsi("completion", shell)
    assert done.code == 0
    assert "evalsi" in done.out


def test_the_shell_completes_evaluators() -> None:
    variables = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_TYPE": "9",
        "_ARGCOMPLETE_STDOUT_FILENAME": "/dev/stdout",
    }
    line = "evalsi eval --evaluators exact"
    done = evalsi(variables=variables | {"COMP_LINE": line, "COMP_POINT": str(len(line))})
    assert "exact-match" in done.out


def test_no_words_print_the_help() -> None:
    assert evalsi().out == evalsi("--help").out
    assert "score existing outputs" in evalsi().out


def test_each_command_of_the_help_stands_in_a_line_with_what_it_does() -> None:
    listed = evalsi("--help").out.split("  COMMAND\n")[1].split("\n\n")[0].splitlines()
    assert all(re.fullmatch(r"    [a-z]+ {2,}\S.*", line) for line in listed), listed


def test_help_and_version_load_neither_an_extension_nor_the_event_loop() -> None:
    script = (
        "import sys; from evalsi_cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'asyncio', 'pydantic', 'pluggy', 'anyio', 'evalsi_datasets', 'evalsi_bootstrap'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_colour_is_for_terminals_that_want_it() -> None:
    assert "\x1b[" not in evalsi("catalog").out
    assert "\x1b[" not in evalsi("evl").err
