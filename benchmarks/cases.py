"""The cases of DESIGN's budgets: what is run, against what, and which figure must hold.

A case gives rows for the table; a budget that does not hold is marked, and the command fails.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.adapter_cases import ADAPTER_CASES
from benchmarks.comparison_cases import COMPARISON_CASES
from benchmarks.judge_cases import JUDGE_CASES
from benchmarks.measure import compare, run
from benchmarks.report_cases import REPORT_CASES
from benchmarks.rows import Bench, Row, shown_mb, shown_ms, shown_s
from benchmarks.run_cases import RUN_CASES
from benchmarks.service_cases import SERVICE_CASES
from benchmarks.wasm_cases import WASM_CASES

FIVE = "exact-match,numeric-match,fuzzy-match,token-f1,rouge"
EVALSI = str(Path(sys.executable).with_name("evalsi"))
MAX_MB = 150
# What remembering an id may take, so that one that comes twice is found; a million of them take as many megabytes.
MAX_ID_BYTES = 32


def start(bench: Bench) -> Iterator[Row]:
    """`--help` and `version` against the bare interpreter."""
    for word in ("--help", "version"):
        found = compare([EVALSI, word], [sys.executable, "-c", "pass"], rounds=bench.rounds * 4)
        times = 1 / found.speedup
        yield Row(
            f"`evalsi {word}`",
            shown_ms(found, "ours"),
            f"{shown_ms(found, 'theirs')} (bare interpreter)",
            f"{times:.1f} ×",
            "≤ 5 ×",
            times <= 5,
        )


def catalog(bench: Bench) -> Iterator[Row]:
    """A warm catalog against the peer's."""
    found = compare([EVALSI, "catalog"], [bench.peer(), "catalog"], rounds=bench.rounds * 2)
    yield Row(
        "`evalsi catalog`, warm",
        shown_ms(found, "ours"),
        shown_ms(found, "theirs"),
        f"{found.speedup:.1f} × faster",
        "faster",
        found.speedup > 1,
    )


def hundred_packs(bench: Bench) -> Iterator[Row]:
    """A warm catalog of a hundred packs, each the pack core under another name, beside the command's own start."""
    core = Path(__file__).parents[1] / "plugins" / "packs" / "core"
    manifest = (core / "plugin.toml").read_text("utf-8")
    for number in range(100):
        folder = bench.folder / "hundred-packs" / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        named = manifest.replace('name = "core"', f'name = "acme/core-{number}"', 1)
        (folder / "plugin.toml").write_text(named, "utf-8")
        shutil.copy(core / "uv.lock", folder)
    variables = {"EVALSI_PLUGIN_PATH": str(bench.folder / "hundred-packs")}
    found = compare([EVALSI, "catalog"], [EVALSI, "version"], rounds=bench.rounds * 4, variables=variables)
    pairs = zip(found.ours, found.theirs, strict=True)
    over_ms = median(our.cpu_s - their.cpu_s for our, their in pairs) * 1000
    yield Row(
        "`evalsi catalog`, 100 packs of 12 evaluators more, warm",
        shown_ms(found, "ours"),
        f"{shown_ms(found, 'theirs')} (`evalsi version`)",
        f"{over_ms:.0f} ms of CPU more",
        "≤ 30 ms",
        over_ms <= 30,
    )


def six_records(bench: Bench) -> Iterator[Row]:
    """What a person waits for on a small file."""
    words = ["eval", "--data", bench.records(6), "--evaluators", "exact-match"]
    found = compare([EVALSI, *words, "--quiet"], [bench.peer(), *words], rounds=bench.rounds * 2)
    yield Row(
        "6 records × exact-match",
        shown_ms(found, "ours"),
        shown_ms(found, "theirs"),
        f"{found.speedup:.1f} × faster",
        "≥ 2 ×",
        found.speedup >= 2,
    )


def hundred_thousand(bench: Bench) -> Iterator[Row]:
    """100,000 records, with one evaluator and with five."""
    for what, evaluators in (("exact-match", "exact-match"), ("5 evaluators", FIVE)):
        words = ["eval", "--data", bench.records(100_000), "--evaluators", evaluators]
        found = compare([EVALSI, *words, "--quiet"], [bench.peer(), *words], rounds=bench.rounds, warm_up=0)
        yield Row(
            f"100,000 records × {what}",
            f"{shown_s(found, 'ours')}, {shown_mb(found, 'ours')}",
            f"{shown_s(found, 'theirs')}, {shown_mb(found, 'theirs')}",
            f"{found.speedup:.1f} × faster",
            "≥ 12 ×",
            found.speedup >= 12,
        )


def million(bench: Bench) -> Iterator[Row]:
    """Memory of the largest process at a hundred thousand and at a million records, five evaluators."""
    small = run([EVALSI, "eval", "--quiet", "--data", bench.records(100_000), "--evaluators", FIVE])
    large = run([EVALSI, "eval", "--quiet", "--data", bench.records(1_000_000), "--evaluators", FIVE])
    growth_mb = large.peak_mb - small.peak_mb
    yield Row(
        "largest process, 1,000,000 records × 5",
        f"{large.peak_mb:.0f} MB, {large.wall_s:.1f} s",
        f"{small.peak_mb:.0f} MB at 100,000",
        f"+{growth_mb:.0f} MB",
        f"≤ {MAX_MB} MB; ids ≤ {MAX_ID_BYTES} bytes each",
        large.peak_mb <= MAX_MB and growth_mb <= MAX_ID_BYTES,
    )


def protocol(bench: Bench) -> Iterator[Row]:
    """1 kB records through a no-op pack."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.protocol_throughput"], capture_output=True, check=True)
    found = json.loads(done.stdout)["rows"][0]
    rate = found["records_per_s"]
    yield Row(
        "protocol, 1 kB records, no-op pack",
        f"{rate:,.0f} records/s",
        "",
        f"{rate:,.0f}/s",
        "≥ 150,000/s",
        rate >= 150_000,
    )


def bootstrap(bench: Bench) -> Iterator[Row]:
    """Bootstrap intervals against the closed ones, on the same data."""
    words = [EVALSI, "eval", "--quiet", "--data", bench.records(100_000), "--evaluators", "exact-match,latency"]
    found = compare([*words, "--ci", "bootstrap"], words, rounds=max(1, bench.rounds // 2), warm_up=0)
    seconds = median(one.wall_s for one in found.ours)
    yield Row(
        "100,000 records, `--ci bootstrap`",
        shown_s(found, "ours"),
        f"{shown_s(found, 'theirs')} (closed intervals)",
        f"{1 / found.speedup:.1f} ×",
        "seconds",
        seconds < 30,
    )


CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "start": start,
    "catalog": catalog,
    "catalog-100": hundred_packs,
    "six": six_records,
    "100k": hundred_thousand,
    "million": million,
    "protocol": protocol,
    "bootstrap": bootstrap,
    **JUDGE_CASES,
    **RUN_CASES,
    **REPORT_CASES,
    **ADAPTER_CASES,
    **COMPARISON_CASES,
    **WASM_CASES,
    **SERVICE_CASES,
}
