"""One job, faithfulness of so many records, in our tool and in others, with the same records at once and latency.

Each makes the calls that its own prompts take, which are counted. It must not know a table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.judge_calls import EVALSI, Vendor, judged, run_scored, variables, vendor
from benchmarks.judge_data import write_retrieved
from benchmarks.judge_peers import OFFLINE, TOOLS, Tool
from benchmarks.measure import Run, run
from benchmarks.peer import ensure_peer


class _Setting(NamedTuple):
    """What is the same for all tools."""

    folder: Path
    data: Path
    records: int
    server: Vendor
    at_once: int


class Job(NamedTuple):
    """One run of the job: what it took, and the calls that it made."""

    run: Run
    calls: int

    def __str__(self) -> str:
        cpu_ms = self.run.cpu_s / self.calls * 1000
        took = f"{self.run.wall_s:.1f} s, {self.calls:,} calls"
        return f"{took}, {cpu_ms:.2f} ms CPU a call, {self.run.peak_mb:.0f} MB"


class Beside(NamedTuple):
    """A tool beside ours: pairs of runs, ours first; without any where it could not be run, and why."""

    tool: Tool
    pairs: list[tuple[Job, Job]]
    trouble: str = ""

    @property
    def times_faster(self) -> float:
        """How many times faster ours is: the median of the pairs' ratios."""
        return median(their.run.wall_s / our.run.wall_s for our, their in self.pairs)

    @property
    def times_faster_a_call(self) -> float:
        """The same for a call, where the tools ask different numbers of questions."""
        return median((their.run.wall_s / their.calls) / (our.run.wall_s / our.calls) for our, their in self.pairs)


def side_by_side(
    folder: Path, records: int, rounds: int, at_once: int = 64, latency_ms: float = 50.0
) -> Iterator[Beside]:
    """The job in ours and in each of the tools, in turn.

    Args:
        folder: for data, environments and what the tools write.
        records: of the job.
        rounds: pairs of runs with each tool.
        at_once: records in flight.
        latency_ms: of the vendor.
    """
    data = write_retrieved(folder / f"retrieved-{records}.jsonl", records)
    with vendor(latency_ms) as server:
        setting = _Setting(folder, data, records, server, at_once)
        _ours(setting)
        for tool in TOOLS:
            try:
                pairs = [
                    (
                        _ours(setting),
                        _theirs(tool, setting),
                    )
                    for _ in range(rounds)
                ]
            except (RuntimeError, OSError, ValueError) as trouble:
                yield Beside(tool, [], _last_line(str(trouble)))
            else:
                yield Beside(tool, pairs)


def _ours(setting: _Setting) -> Job:
    at_once = str(setting.at_once)
    flags = ["--no-cache", "--concurrency", at_once, "--judge-max-in-flight", at_once]
    command = judged(EVALSI, "rag/faithfulness", setting.data, setting.server.base_url, *flags)
    before = setting.server.calls()
    done = run_scored(command, setting.records, variables(setting.folder))
    return Job(done, setting.server.calls() - before)


def _theirs(tool: Tool, setting: _Setting) -> Job:
    folder, data, records, server, at_once = setting
    before = server.calls()
    if not tool.script:
        flags = ["--no-cache", "--concurrency", str(at_once)]
        command = judged(ensure_peer(folder / "peer"), "faithfulness", data, server.base_url, *flags)
        done = run_scored(command, records, variables(folder) | OFFLINE)
        return Job(done, server.calls() - before)
    command = tool.command(folder, data, server.base_url, at_once)
    scratch = folder / "judges" / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    done = run(command, OFFLINE, cwd=scratch)
    # Some print more than their script does.
    scored = json.loads(_last_line(done.stdout))["scored"]
    if scored != records:
        raise RuntimeError(f"it scored {scored} of {records} records")
    return Job(done, server.calls() - before)


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it told nothing")
