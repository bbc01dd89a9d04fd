"""S9: exhausted system resources are reported as such, not as an internal error."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_cli.exhaustion import exhaustion
from evalsi_cli.faults import exit_code_of
from evalsi_kernel.errors import EvalsiError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("files", [8, 10, 12, 14])
def test_s9_too_few_open_files_are_named_with_the_way_to_raise_them(files: int, tmp_path: Path) -> None:
    data = ROOT / "examples" / "quickstart" / "qa.jsonl"
    script = "import resource, sys; from evalsi_cli.main import main\n"
    script += f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n"
    script += f"sys.exit(main(['eval', '--data', {str(data)!r}, '--evaluators', 'exact-match']))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert "Internal error of evalsi" not in done.stderr
    assert "Traceback" not in done.stderr
    # Where the files suffice, the file is scored.
    assert done.returncode == 0 or (done.returncode == 1 and "ulimit -n" in done.stderr)
    if files == 8:
        assert done.returncode == 1


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EAGAIN])
def test_s9_each_limit_has_a_hint_also_deep_in_a_chain(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        try:
            raise OSError(number, os.strerror(number))
        except OSError as error:
            group = ExceptionGroup("tasks", [ValueError("another"), error])
            raise RuntimeError("a library's own") from group

    assert exit_code_of(run) == 1
    out = capsys.readouterr().err
    assert "Internal error of evalsi" not in out
    assert out.count("\n") == 2


def test_s9_an_error_that_names_its_own_place_gets_the_hint_of_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        try:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        except OSError as error:
            raise EvalsiError("runs/1/run.json cannot be written.", "Free some space.") from error

    assert exit_code_of(run) == 1
    out = capsys.readouterr().err
    assert "runs/1/run.json" in out
    assert "ulimit -n" in out
    assert "Free some space" not in out


def test_s9_a_stream_that_does_not_block_and_other_errors_are_no_limit() -> None:
    assert exhaustion(BlockingIOError(errno.EAGAIN, "write could not complete without blocking")) is None
    assert exhaustion(OSError(errno.ENOENT, os.strerror(errno.ENOENT))) is None
    assert exhaustion(RuntimeError("can't start new thread")) is not None
    assert exhaustion(MemoryError()) is not None
