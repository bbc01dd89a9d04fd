"""Test large data: a line of 50 MB, a file larger than memory, a record larger than a frame."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.running import evalsi

PEAK_OF_A_50_MB_LINE_BYTES = 450_000_000
"""Measured: 380 MB. The line, its text, the record, its frame and the buffers of the pipe exist at the same time."""

# VmHWM begins anew with a program; ru_maxrss would begin at what the process held that started it, which may be more.
AND_ITS_PEAK = """
import re, sys
from pathlib import Path
from evalsi_cli.main import main
code = main(sys.argv[1:])
print(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1], file=sys.stderr)
sys.exit(code)
"""


def test_a_line_of_50_megabytes_is_scored_with_bounded_memory(tmp_path: Path) -> None:
    data = tmp_path / "large.jsonl"
    with data.open("w") as file:
        file.write(f'{{"output": "{"x" * 50_000_000}", "reference": "x"}}\n{{"output": "b", "reference": "b"}}\n')
    words = ["eval", "--data", str(data), "--evaluators", "exact-match", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-c", AND_ITS_PEAK, *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["summaries"][0]["n"], found["summaries"][0]["mean"]) == (2, 0.5)
    peak_kb = int(done.stderr.splitlines()[-1])
    assert 100_000 < peak_kb < PEAK_OF_A_50_MB_LINE_BYTES / 1024


UNDER_A_LIMIT = """
import resource, sys
from evalsi_cli.main import main
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


def test_a_json_array_larger_than_the_memory_there_is_is_scored_to_the_end(tmp_path: Path) -> None:
    data, limit_bytes = tmp_path / "large.json", 300_000_000
    row = json.dumps({"output": "x" * 100_000})
    with data.open("w") as file:
        file.write("[" + row)
        for _ in range(3_099):
            file.write(",\n" + row)
        file.write("]")
    assert data.stat().st_size > limit_bytes
    words = ["eval", "--data", str(data), "--evaluators", "json-valid", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(limit_bytes), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summaries"][0]["n"] == 3_100


def test_a_record_that_no_frame_holds_is_its_own_error_and_the_others_are_scored(tmp_path: Path) -> None:
    data, output = tmp_path / "large.jsonl", tmp_path / "results.json"
    with data.open("w") as file:
        for name, size in (("a", 1), ("huge", 67_200_000), ("b", 1)):
            file.write(f'{{"id": "{name}", "output": "{"x" * size}"}}\n')
    done = evalsi("eval", "--data", data, "--evaluators", "length,json-valid", "--output", output)
    assert done.code == 0, done.err
    assert "line 2: the record takes 64 MiB, more than the 64 MiB that can be sent" in done.err
    found = json.loads(output.read_text("utf-8"))
    assert [(one["record_id"], one["outcome"]) for one in found["results"]] == [
        (name, outcome) for name, outcome in (("a", "scored"), ("huge", "error"), ("b", "scored")) for _ in range(2)
    ]
