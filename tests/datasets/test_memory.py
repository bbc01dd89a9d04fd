"""Memory stays flat however large the data; each reader runs in a process of its own, whose peak is asked."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from tests.datasets.reading import read

# VmHWM begins anew with a program; ru_maxrss would begin at the peak of the process that started it, which is larger.
READ_TWICE = """
import re, sys
from collections.abc import Callable
from pathlib import Path
from evalsi_datasets.plugin import evalsi_open_source
def peak_kb(path):
    rows = sum(len(chunk) for chunk in evalsi_open_source(path, None).chunks())
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


def growth_kb(small: Path, large: Path) -> tuple[int, int, int]:
    """The rows of either file, and by how much the peak of memory rose when the larger one was read."""
    ended = subprocess.run(
        [sys.executable, "-c", READ_TWICE, small, large], capture_output=True, text=True, timeout=60, check=True
    )
    few, many, growth = map(int, ended.stdout.split())
    return few, many, growth


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_file_ninety_times_as_large_takes_no_more_memory(suffix: str, tmp_path: Path) -> None:
    small, large = write(tmp_path / f"small{suffix}", SMALL), write(tmp_path / f"large{suffix}", LARGE)

    few, many, growth = growth_kb(small, large)

    assert (few, many) == (SMALL, LARGE)
    assert large.stat().st_size > 35_000_000
    assert growth < 6_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("compression", "compress"), [(".gz", gzip.compress), (".zst", zstd.compress)])
def test_an_archive_of_a_few_kilobytes_that_holds_much_takes_no_more_memory(
    compression: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    small, large = tmp_path / f"small.jsonl{compression}", tmp_path / f"large.jsonl{compression}"
    line = f"{ROW}\n".encode()
    small.write_bytes(compress(line * SMALL))
    large.write_bytes(compress(line * LARGE))

    few, many, growth = growth_kb(small, large)

    assert (few, many) == (SMALL, LARGE)
    assert large.stat().st_size < 200_000
    assert growth < 6_000


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_a_chunk_of_tiny_records_holds_a_thousand_of_them(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"tiny{suffix}"
    opening, record, closing = {".jsonl": ("", "{}\n", ""), ".json": ("[", "{},", "{}]"), ".csv": ("a\n", "a\n", "")}[
        suffix
    ]
    path.write_text(opening + record * 30_000 + closing)

    reading = read(path)

    numbers = [number for number, _ in reading.numbered]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert len(numbers) >= 30_000
    assert max(reading.chunk_lengths) == 1024
