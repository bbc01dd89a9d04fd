"""Rows that a reader's process prints: in chunks, no faster than they are wanted, and never cut off unnoticed."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.extensions.hook_calls import open_source
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.packs.catalog import Catalog
from evalsi_kernel.supervision.launch import Command
from evalsi_logs import inspect_log
from evalsi_logs.reader_rows import CHUNK_ROWS, ReaderRows
from tests.processes import still_running


def source(tmp_path: Path, code: str) -> ReaderRows:
    """Rows of a reader whose code is given."""
    log = tmp_path / "x.eval"
    log.write_bytes(b"the log")
    return ReaderRows(str(log), "inspect://x.eval", "inspect", lambda: Command([sys.executable, "-c", code]))


PRINT = """
import json
for number in range({count}):
    print(json.dumps({{"row": {{"id": str(number), "output": "x" * {size}}}}}))
print(json.dumps({last}))
"""


def printing(count: int, last: str, size: int = 10) -> str:
    return PRINT.format(count=count, last=last, size=size)


def test_rows_are_numbered_from_one_in_chunks_and_the_log_is_hashed_once_it_was_read(tmp_path: Path) -> None:
    rows = source(tmp_path, printing(3_000, "{'end': 3000}"))
    assert rows.sha256() is None
    chunks = list(rows.chunks())
    assert max(map(len, chunks)) == CHUNK_ROWS
    assert [number for chunk in chunks for number, _ in chunk] == list(range(1, 3_001))
    assert [row["id"] for chunk in chunks for _, row in chunk] == [str(number) for number in range(3_000)]
    assert rows.sha256() == hashlib.sha256(b"the log").hexdigest()
    assert (rows.name, rows.unit, rows.may_block) == ("inspect://x.eval", "sample", True)


def test_large_rows_come_a_few_at_a_time(tmp_path: Path) -> None:
    chunks = list(source(tmp_path, printing(10, "{'end': 10}", size=50_000)).chunks())
    assert [len(chunk) for chunk in chunks] == [2] * 5


def test_a_log_without_samples_has_no_rows(tmp_path: Path) -> None:
    assert list(source(tmp_path, printing(0, "{'end': 0}")).chunks()) == []


FAULTS = {
    "a fault": (
        printing(2, "{'fault': {'message': 'sample 3 is torn.', 'hint': 'Copy it.'}}"),
        "sample 3 is torn",
        "Copy",
    ),
    "fewer than it says": (printing(2, "{'end': 3}"), "ended before the log did", "doctor"),
    "no last line": (printing(2, "{'row': {'id': 'last'}}"), "ended before the log did", "doctor"),
    "a line that is cut off": ('print(\'{"row": {"id": "1\')', "ended before the log did", "doctor"),
    "a line that is none of ours": ("print('[1]')", "ended before the log did", "doctor"),
    "a row that is none": ("print('{\"row\": 1}')", "ended before the log did", "doctor"),
    "a crash": ("raise SystemExit('no such module')", "log did: no such module", "doctor"),
    "a traceback": (printing(2, "1 / 0"), "ZeroDivisionError", "doctor"),
    "nothing": ("", "ended before the log did", "doctor"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_what_is_not_read_to_its_end_is_an_error_after_the_rows_that_came(kind: str, tmp_path: Path) -> None:
    code, message, hint = FAULTS[kind]
    rows = source(tmp_path, code)
    came: list[str] = []
    with pytest.raises(DatasetError, match=message) as caught:
        came.extend(row["id"] for chunk in rows.chunks() for _, row in chunk)
    assert hint in caught.value.hint
    assert came[:2] == (["0", "1"] if code.startswith("\nimport") else [])
    assert rows.sha256() is None


def test_a_reader_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    code = f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n" + printing(10**7, "{'end': 0}")
    chunks = source(tmp_path, code).chunks()
    assert next(chunks)[0][0] == 1
    # As a reader does that stops at its limit.
    del chunks
    pid = int((tmp_path / "pid").read_text())
    assert still_running([pid]) == []


SILENT = """
import sys
from evalsi_cli.main import run_and_exit
from evalsi_kernel.supervision.launch import Command
from evalsi_logs import inspect_log
from evalsi_logs.reader_rows import ReaderRows
command = Command([sys.executable, "-c", sys.argv[1]])
inspect_log.open_inspect_log = lambda path, uri: ReaderRows(path, uri, "inspect", lambda: command)
sys.argv[1:] = ["eval", "--data", "inspect://x.eval", "--evaluators", "exact-match"]
run_and_exit()
"""
FOREVER = "import os, threading; open({path!r}, 'w').write(str(os.getpid())); threading.Event().wait()"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_ctrl_c_ends_a_command_whose_reader_is_silent_and_the_reader_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    code = FOREVER.format(path=str(tmp_path / "pid"))
    command = [sys.executable, "-c", SILENT, code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # It is written once the reader is there.
        pid = int((tmp_path / "pid").read_text())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said.count(b"stopping")) == (130, 1)
    assert still_running([pid]) == []


def test_what_a_reader_says_beside_its_rows_does_not_stop_it(tmp_path: Path) -> None:
    code = "import sys\nsys.stderr.write('talk ' * 100_000)\nsys.stderr.write('line\\n' * 100_000)\n"
    assert len(next(source(tmp_path, code + printing(3, "{'end': 3}")).chunks())) == 3


MEMORY = """
import re, sys
from pathlib import Path
from evalsi_kernel.supervision.launch import Command
from evalsi_logs.reader_rows import ReaderRows
def peak_kb(code):
    rows = ReaderRows("/dev/null", "x", "inspect", lambda: Command([sys.executable, "-c", code]))
    return sum(map(len, rows.chunks())), int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
(few, before), (many, after) = peak_kb(sys.argv[1]), peak_kb(sys.argv[2])
print(few, many, after - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_twenty_thousand_samples_take_no_more_memory_than_two_hundred(tmp_path: Path) -> None:
    arguments = [printing(count, f"{{'end': {count}}}", size=4_000) for count in (200, 20_000)]
    ended = subprocess.run(
        [sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, timeout=110, check=True
    )
    few, many, growth_kb = map(int, ended.stdout.split())
    assert (few, many) == (200, 20_000)
    assert growth_kb < 4_000


# -- opening --------------------------------------------------------------------------------------------------------


def test_the_scheme_and_the_end_of_a_name_open_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.eval").write_bytes(b"PK")
    Path("x.json").write_bytes(b"{}")
    for uri in ("inspect://x.eval", "x.eval", f"inspect://{tmp_path}/x.json", "INSPECT://x.json"):
        assert open_source(uri, default_extensions()).name == uri


@pytest.mark.parametrize("uri", ["inspect://nowhere.eval", "inspect://", "inspect:///", "inspect://."])
def test_a_log_that_is_not_there_is_an_error_that_shows_how_to_write_the_path(uri: str) -> None:
    with pytest.raises(DatasetError, match="There is no log") as caught:
        open_source(uri, default_extensions())
    assert "inspect:///folder/log.eval" in caught.value.hint


def test_without_the_adapter_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.eval").write_bytes(b"PK")
    nothing: Callable[[], Catalog] = Catalog
    monkeypatch.setattr(inspect_log, "default_catalog", nothing)
    with pytest.raises(DatasetError, match="adapter inspect, which is not installed"):
        inspect_log.open_inspect_log(str(tmp_path / "x.eval"), "x.eval")
