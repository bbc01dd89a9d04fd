"""Memory stays flat however large the data; each reader runs in a process of its own, whose peak is asked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# VmHWM begins anew with a program; ru_maxrss would begin at the peak of the process that started it, which is larger.
READ_TWICE = """
import re, sys
from pathlib import Path
from evalsi_datasets.plugin import evalsi_open_source
def peak_kb(path):
    rows = sum(len(chunk) for chunk in evalsi_open_source(path).chunks())
    return rows, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
(few, before), (many, after) = peak_kb(sys.argv[1]), peak_kb(sys.argv[2])
print(few, many, after - before)
"""
ROW = json.dumps({"id": "r", "input": "question " * 20, "output": "answer " * 20, "context": ["c" * 100]})
# Of text: about forty megabytes in the large file, which would be over a hundred as Python's objects.
SMALL, LARGE = 1_000, 90_000


def write(path: Path, count: int) -> Path:
    opening, separator, closing = {".json": ("[", ",\n", "]"), ".jsonl": ("", "\n", "\n")}.get(
        path.suffix, ("id,output\n", "\n", "\n")
    )
    row = ROW if path.suffix != ".csv" else "r," + "answer " * 60
    with path.open("w") as file:
        file.write(opening + row)
        file.writelines([separator + row] * (count - 1))
        file.write(closing)
    return path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_file_ninety_times_as_large_takes_no_more_memory(suffix: str, tmp_path: Path) -> None:
    small, large = write(tmp_path / f"small{suffix}", SMALL), write(tmp_path / f"large{suffix}", LARGE)

    ended = subprocess.run(
        [sys.executable, "-c", READ_TWICE, small, large], capture_output=True, text=True, timeout=60, check=True
    )

    few, many, growth_kb = map(int, ended.stdout.split())
    assert (few, many) == (SMALL, LARGE)
    assert large.stat().st_size > 35_000_000
    assert growth_kb < 6_000
