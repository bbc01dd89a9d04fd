"""The calls of a judge's job, through the whole command: how near to the ideal they come, and what CPU each takes.

Start-up is no part of the figures: a run of as many records as are in flight is taken off one of many more. It must not
know a table.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from benchmarks.judge_data import write_judged
from benchmarks.measure import Run, run
from tests.providers import KEY, MODEL
from tests.providers.process import running

EVALSI: Final = str(Path(sys.executable).with_name("evalsi"))
KEY_VARIABLE: Final = "EVALSI_BENCHMARK_KEY"


class Vendor(NamedTuple):
    """The vendor on this machine, in a process of its own."""

    base_url: str

    def calls(self) -> int:
        """How many calls came so far."""
        with urllib.request.urlopen(self.base_url.removesuffix("/v1") + "/seen") as seen:
            count: int = json.load(seen)["calls"]
        return count


class Speed(NamedTuple):
    """How fast calls were made.

    Args:
        share: of the ideal, in which no call takes longer than the vendor; 0 to 1.
        whole_share: the same with start and end of the command in it.
        cpu_ms: of all processes of the command, a call.
        per_s: calls a second.
    """

    share: float
    whole_share: float
    cpu_ms: float
    per_s: float


@contextmanager
def vendor(latency_ms: float) -> Iterator[Vendor]:
    """A vendor whose every answer takes so long."""
    with running("--latency-ms", f"{latency_ms:g}", module="benchmarks.judge_vendor") as server:
        yield Vendor(server.base_url)


def variables(folder: Path) -> dict[str, str]:
    """What a command with a judge needs in its environment, with a cache of its own."""
    return {KEY_VARIABLE: KEY, "EVALSI_CACHE_DIR": str(folder / "cache")}


def judged(program: str, evaluators: str, data: Path, base_url: str, *flags: str) -> list[str]:
    """The command that scores these records with a judge; the peer's takes the same words."""
    words = ["eval", "--data", str(data), "--evaluators", evaluators, "--quiet", "--format", "json"]
    words += ["--judge-model", MODEL, "--judge-base-url", base_url, "--judge-api-key-env", KEY_VARIABLE]
    return [program, *words, *flags]


def at_once(calls: int) -> list[str]:
    """Our flags for so many calls at once, and none from the cache.

    A record makes no call while its verdict is on its way and the next one begins, so there are a few more of them.
    """
    return ["--no-cache", "--concurrency", str(calls * 5 // 4), "--judge-max-in-flight", str(calls)]


def run_scored(command: Sequence[str], records: int, extra: dict[str, str]) -> Run:
    """Run such a command; raises `RuntimeError` unless every record was scored."""
    done = run(command, extra)
    (summary, *_) = json.loads(done.stdout)["summaries"]
    if (summary["n"], summary["errors"]) != (records, 0):
        raise RuntimeError(f"{' '.join(command)} scored {summary['n']} of {records}; {summary['errors']} failed")
    return done


def speed(folder: Path, calls: int, in_flight: int, latency_ms: float, rounds: int, *, program: str = EVALSI) -> Speed:
    """The medians of so many pairs of runs.

    Args:
        folder: for the data and the cache of environments.
        calls: that are measured.
        in_flight: at once.
        latency_ms: of the vendor.
        rounds: pairs of runs; one run before them warms up.
        program: ours, or the peer's.
    """
    few, many = in_flight, in_flight + calls
    flags = at_once(in_flight) if program == EVALSI else ["--no-cache", "--concurrency", str(in_flight)]
    found = []
    with vendor(latency_ms) as server:

        def timed(records: int) -> Run:
            before = server.calls()
            data = write_judged(folder / f"judged-{records}.jsonl", records)
            command = judged(program, "llm-judge", data, server.base_url, *flags)
            done = run_scored(command, records, variables(folder))
            made = server.calls() - before
            if made != records:
                raise RuntimeError(f"{' '.join(command)} made {made} calls for {records} records")
            return done

        timed(few)
        for _ in range(rounds):
            found.append(_speed(timed(few), timed(many), calls, in_flight, latency_ms))
    return Speed(*(median(values) for values in zip(*found, strict=True)))


def _speed(few: Run, many: Run, calls: int, in_flight: int, latency_ms: float) -> Speed:
    took_s = many.wall_s - few.wall_s
    round_s = latency_ms / 1000
    ideal_s = calls / in_flight * round_s
    return Speed(
        ideal_s / took_s,
        (ideal_s + round_s) / many.wall_s,
        (many.cpu_s - few.cpu_s) / calls * 1000,
        calls / took_s,
    )


def hits(folder: Path, count: int, rounds: int, in_flight: int = 64) -> tuple[float, float]:
    """The same job once more, from the cache: hits a second end to end, and CPU of a hit in milliseconds; medians."""
    few = in_flight
    rates, cpus = [], []
    with vendor(0.0) as server:

        def timed(records: int, *, may_call: bool = False) -> Run:
            before = server.calls()
            data = write_judged(folder / f"judged-{records}.jsonl", records)
            command = judged(EVALSI, "llm-judge", data, server.base_url, "--concurrency", str(in_flight))
            done = run_scored(command, records, variables(folder))
            if server.calls() != before and not may_call:
                raise RuntimeError(f"{' '.join(command)} asked again what the cache holds")
            return done

        timed(few + count, may_call=True)
        for _ in range(rounds):
            short, long = timed(few), timed(few + count)
            rates.append(count / (long.wall_s - short.wall_s))
            cpus.append((long.cpu_s - short.cpu_s) / count * 1000)
    return median(rates), median(cpus)
