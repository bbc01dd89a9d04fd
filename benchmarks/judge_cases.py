"""The cases of a judge: its calls, its cache, its transports, and one job beside other tools.

Each is measured against the vendor on this machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.judge_calls import hits, speed
from benchmarks.judge_job import side_by_side
from benchmarks.rows import Bench, Row

JOB_RECORDS = 1000
# Tools that take minutes are run less often.
JOB_ROUNDS = 2


def calls(bench: Bench) -> Iterator[Row]:
    """How near calls come to the ideal, and what CPU each takes, beside the peer where it takes no hours."""
    theirs = speed(bench.folder, 2000, 64, 50.0, 1, program=bench.peer())
    beside = f"{theirs.share:.0%}, {theirs.cpu_ms:.2f} ms CPU a call"
    for count, in_flight, latency_ms, least, peer in ((2000, 64, 50.0, 0.85, beside), (4096, 256, 500.0, 0.95, "")):
        found = speed(bench.folder, count, in_flight, latency_ms, bench.rounds)
        what = f"{count:,} calls, {in_flight} at once × {latency_ms:g} ms"
        yield Row(
            f"{what}: share of the ideal",
            f"{found.per_s:,.0f} calls/s; {found.whole_share:.0%} with start and end of the command",
            peer,
            f"{found.share:.1%}",
            f"≥ {least:.0%}",
            found.share >= least,
        )
        yield Row(
            f"{what}: CPU a call, all our processes",
            f"{found.cpu_ms:.2f} ms",
            "",
            f"{found.cpu_ms:.2f} ms",
            "≤ 0.8 ms",
            found.cpu_ms <= 0.8,
        )


def cache(bench: Bench) -> Iterator[Row]:
    """Hits a second: of the cache alone, and of a whole job that is run again."""
    found = _told("benchmarks.judge_cache")
    rate = found["hits_per_s"]
    yield Row(
        "cache, 100,000 replies, 64 tasks",
        f"{rate:,} hits/s",
        f"{found['writes_per_s']:,} writes/s",
        f"{rate:,}/s",
        "≥ 10,000/s",
        rate >= 10_000,
    )
    per_s, cpu_ms = hits(bench.folder, 20_000, bench.rounds)
    yield Row(
        "20,000 records × llm-judge again, all cached",
        f"{per_s:,.0f} records/s, {cpu_ms:.2f} ms CPU each",
        "",
        f"{per_s:,.0f}/s",
        "no call",
        True,
    )


def transport(_bench: Bench) -> Iterator[Row]:
    """The transports of HTTP, and the connectors whole, at 64 calls at once."""
    rows = _told("benchmarks.judge_transport")["rows"]
    base = rows["httpx, its own pool"]
    for name, one in rows.items():
        yield Row(
            f"2,000 calls, 64 at once × 50 ms: {name}",
            f"{one['share_of_ideal']:.0%} of the ideal, {one['cpu_ms']:.2f} ms CPU a call",
            "" if one is base else f"{base['share_of_ideal']:.0%}, {base['cpu_ms']:.2f} ms (httpx, its own pool)",
            f"{base['cpu_ms'] / one['cpu_ms']:.1f} × less CPU",
            "",
            True,
        )


def job(bench: Bench) -> Iterator[Row]:
    """Faithfulness of a thousand records, beside other tools."""
    for found in side_by_side(bench.folder, JOB_RECORDS, min(bench.rounds, JOB_ROUNDS)):
        what = f"faithfulness of {JOB_RECORDS:,} records: {found.ours.name}"
        beside = f"{found.tool.name} ({found.tool.asks})"
        if found.trouble:
            yield Row(what, "", f"{beside} could not be run: {found.trouble}", "", "the fastest", False)
            continue
        our, their = (min((pair[side] for pair in found.pairs), key=lambda one: one.run.wall_s) for side in (0, 1))
        figure = f"{found.times_faster:.1f} × faster, {found.times_faster_a_call:.1f} × a call"
        # Where ours asks twice as much, only the time of a call can be compared.
        same = our.calls <= their.calls
        holds = (found.times_faster if same else found.times_faster_a_call) > 1
        yield Row(what, str(our), f"{beside}: {their}", figure, "the fastest" if same else "faster a call", holds)


def _told(module: str) -> dict[str, Any]:
    """What a benchmark of a single process prints."""
    done = subprocess.run([sys.executable, "-m", module], capture_output=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


JUDGE_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "judge-calls": calls,
    "judge-cache": cache,
    "judge-transport": transport,
    "judge-job": job,
}
