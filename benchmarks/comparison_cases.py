"""The cases of what reads results files: a comparison of two, and tables of one.

A comparison is held against Python reading the same two files, since absolute times of a shared machine say little.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import compare, run
from benchmarks.rows import Bench, Row, shown_mb, shown_s

EVALSI = str(Path(sys.executable).with_name("evalsi"))
RECORDS = 100_000
MAX_TIMES = 3
MAX_MB = 150
READ = "import json, sys; [json.load(open(path, encoding='utf-8')) for path in sys.argv[1:]]"


def comparison(bench: Bench) -> Iterator[Row]:
    """Two runs of 100,000 results each."""
    paths = [_results(bench, name, outputs) for name, outputs in (("base", 7), ("candidate", 5))]
    found = compare([EVALSI, "compare", *paths], [sys.executable, "-c", READ, *paths], rounds=bench.rounds, warm_up=0)
    times, peak_mb = 1 / found.speedup, max(one.peak_mb for one in found.ours)
    yield Row(
        f"`evalsi compare`, {RECORDS:,} results a side",
        f"{shown_s(found, 'ours')}, {shown_mb(found, 'ours')}",
        f"{shown_s(found, 'theirs')}, {shown_mb(found, 'theirs')} (`json.load` of both files)",
        f"{times:.1f} ×",
        f"≤ {MAX_TIMES} ×, ≤ {MAX_MB} MB",
        times <= MAX_TIMES and peak_mb <= MAX_MB,
    )


def analysis(bench: Bench) -> Iterator[Row]:
    """A question about one run of 100,000 results."""
    path = _results(bench, "base", 7)
    words = [EVALSI, "analyze", "query", "select metric, avg(value) from scores group by 1", "--results", path]
    found = compare(words, [sys.executable, "-c", READ, path], rounds=bench.rounds, warm_up=0)
    times = 1 / found.speedup
    yield Row(
        f"`evalsi analyze query`, {RECORDS:,} results loaded and asked",
        f"{shown_s(found, 'ours')}, {shown_mb(found, 'ours')}",
        f"{shown_s(found, 'theirs')}, {shown_mb(found, 'theirs')} (`json.load` of the file)",
        f"{times:.1f} ×",
        f"≤ {MAX_TIMES} ×",
        times <= MAX_TIMES,
    )


def _results(bench: Bench, name: str, wrong_one_in: int) -> str:
    """The results file of an evaluation in which one answer in so many is wrong."""
    data, path = bench.folder / f"{name}.jsonl", bench.folder / f"{name}.json"
    if not path.exists():
        with data.open("w", encoding="utf-8") as file:
            for number in range(RECORDS):
                output = "no idea" if number % wrong_one_in == 0 else str(number)
                row = {"id": f"r{number}", "input": f"What is {number}?", "output": output, "reference": str(number)}
                file.write(f"{json.dumps(row)}\n")
        run([EVALSI, "eval", "--quiet", "--data", str(data), "--evaluators", "exact-match", "--output", str(path)])
    return str(path)


COMPARISON_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {"compare": comparison, "analyze": analysis}
