"""What a module can reach beyond its memory: a log with bounds, and a WASI in which nothing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_wasm.imports import MAX_LINES, Log
from tests.protocol.kernel_end import KernelEnd, texts
from tests.wasm.hosting import hosting, running
from tests.wasm.wat import guest

LOG = '(import "evalsi" "log" (func $log (param i32 i32)))'
TEXT = (
    '(data (i32.const 2048) "\\e2\\9c\\93 looked\\nat it") (data (i32.const 3000) "\\00\\08\\00\\00\\05\\00\\00\\00")'
)


def wasi(name: str, params: str) -> str:
    return f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {params}) (result i32)))'


def scored(kernel: KernelEnd, *outputs: str) -> list[list[Any]]:
    kernel.open(1, "tested")
    return kernel.score(texts(*outputs))[1]


@pytest.mark.abi("WAB-4")
def test_what_a_module_logs_is_on_the_packs_stderr(tmp_path: Path) -> None:
    code = guest("(call $log (i32.const 2048) (i32.const 16))", before=LOG, more=TEXT)
    (tmp_path / "logs.wasm").write_bytes(code)
    with running(tmp_path / "logs.wasm") as (kernel, process):
        kernel.hello()
        assert scored(kernel, "a")[0][2] == "scored"
        kernel.ask("bye", {})
        assert process.stderr is not None
        assert process.stderr.read().decode() == "✓ looked\nat it\n"


@pytest.mark.abi("WAB-4")
def test_a_log_outside_of_the_memory_or_without_end_does_no_harm(tmp_path: Path) -> None:
    code = guest("(call $log (i32.const -4) (i32.const -1))", before=LOG)
    with hosting(code, tmp_path) as kernel:
        assert scored(kernel, "a", "b")[1][2] == "scored"
    shown: list[str] = []
    log = Log(shown.append)
    for _ in range(3):
        log.add(b"line\n" * MAX_LINES)
    assert len(shown) == MAX_LINES + 1
    assert shown[-1] == "The module wrote more than 1,000 lines; what follows is not shown.\n"


@pytest.mark.abi("WAB-4", "WAB-21")
@pytest.mark.parametrize(
    ("name", "params", "call"),
    [
        ("random_get", "i32 i32", "(call $random_get (i32.const 2048) (i32.const 8))"),
        ("environ_sizes_get", "i32 i32", "(call $environ_sizes_get (i32.const 2048) (i32.const 2052))"),
        ("args_sizes_get", "i32 i32", "(call $args_sizes_get (i32.const 2048) (i32.const 2052))"),
    ],
)
def test_chance_and_the_environment_are_zeros(name: str, params: str, call: str, tmp_path: Path) -> None:
    assert_written(0, name, params, call, tmp_path)


@pytest.mark.abi("WAB-4", "WAB-21")
@pytest.mark.parametrize("which", [0, 1])
def test_every_clock_stands_at_its_first_nanosecond(which: int, tmp_path: Path) -> None:
    call = f"(call $clock_time_get (i32.const {which}) (i64.const 1) (i32.const 2048))"
    assert_written(1, "clock_time_get", "i32 i64 i32", call, tmp_path)


def assert_written(value: int, name: str, params: str, call: str, tmp_path: Path) -> None:
    """A call of WASI succeeds each time, and writes this number to the address 2048, whatever was there."""
    is_written = f"(i64.eq (i64.load (i32.const 2048)) (i64.const {value}))"
    score = f"(if (i32.or {call} (i32.eqz {is_written})) (then unreachable))"
    code = guest(score, before=wasi(name, params), more='(data (i32.const 2048) "\\01\\02\\03\\04\\05\\06\\07\\08")')
    with hosting(code, tmp_path) as kernel:
        assert scored(kernel, "a", "b")[0][2] == "scored"


@pytest.mark.abi("WAB-4")
@pytest.mark.parametrize(
    ("name", "params", "call", "errno"),
    [
        ("fd_prestat_get", "i32 i32", "(call $fd_prestat_get (i32.const 3) (i32.const 2048))", 8),
        ("fd_read", "i32 i32 i32 i32", "(call $fd_read (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))", 8),
        (
            "poll_oneoff",
            "i32 i32 i32 i32",
            "(call $poll_oneoff (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))",
            52,
        ),
        ("sock_accept", "i32 i32 i32", "(call $sock_accept (i32.const 0) (i32.const 0) (i32.const 0))", 52),
    ],
)
def test_files_and_sockets_are_not_there(name: str, params: str, call: str, errno: int, tmp_path: Path) -> None:
    code = guest(f"(if (i32.ne {call} (i32.const {errno})) (then unreachable))", before=wasi(name, params))
    with hosting(code, tmp_path) as kernel:
        assert scored(kernel, "a")[0][2] == "scored"


@pytest.mark.abi("WAB-4")
def test_standard_output_is_the_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write = "(call $fd_write (i32.const 1) (i32.const 3000) (i32.const 1) (i32.const 3008))"
    score = f"(if (i32.or {write} (i32.ne (i32.load (i32.const 3008)) (i32.const 5))) (then unreachable))"
    (tmp_path / "prints.wasm").write_bytes(guest(score, before=wasi("fd_write", "i32 i32 i32 i32"), more=TEXT))
    with running(tmp_path / "prints.wasm") as (kernel, process):
        kernel.hello()
        assert scored(kernel, "a")[0][2] == "scored"
        kernel.ask("bye", {})
        assert process.stderr is not None
        assert process.stderr.read().decode() == "✓ l\n"


@pytest.mark.abi("WAB-4")
def test_a_module_that_ends_itself_is_a_trap_of_that_record(tmp_path: Path) -> None:
    end = '(import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))'
    with hosting(guest("(call $proc_exit (i32.const 3))", before=end), tmp_path) as kernel:
        item = scored(kernel, "a")[0]
    assert item[3]["code"] == "pack.trap"
    assert item[3]["message"] == "The module stopped in evalsi_score: it ended itself with the code 3."
