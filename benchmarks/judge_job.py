"""One job, faithfulness of so many records, in our tool and in others, with the same records at once and latency.

Each makes the calls that its own prompts take, which are counted. It must not know a table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError
from typing import Final, NamedTuple

from benchmarks.judge_calls import EVALSI, Vendor, at_once, judged, run_scored, variables, vendor
from benchmarks.judge_data import write_retrieved
from benchmarks.judge_peers import OFFLINE, TOOLS, Tool
from benchmarks.measure import Run, run
from benchmarks.peer import ensure_peer


class Setting(NamedTuple):
    """What is the same for all tools."""

    folder: Path
    data: Path
    records: int
    server: Vendor
    in_flight: int


class Job(NamedTuple):
    """One run of the job: what it took, and the calls that it made."""

    run: Run
    calls: int

    def __str__(self) -> str:
        cpu_ms = self.run.cpu_s / self.calls * 1000
        took = f"{self.run.wall_s:.1f} s, {self.calls:,} calls"
        return f"{took}, {cpu_ms:.2f} ms CPU a call, {self.run.peak_mb:.0f} MB"


class Ours(NamedTuple):
    """One of our evaluators for this job.

    Args:
        name: for the table.
        words: that choose it.
    """

    name: str
    words: tuple[str, ...]


TWO_QUESTIONS: Final = Ours("`rag/faithfulness`, claims, then verdicts", ("rag/faithfulness",))
ONE_QUESTION: Final = Ours(
    "`llm-judge` by the rubric faithfulness, one grade", ("llm-judge", "--param", "llm-judge.rubric=faithfulness")
)


class Beside(NamedTuple):
    """A tool beside one of ours: pairs of runs, ours first; without any where it could not be run, and why."""

    tool: Tool
    ours: Ours
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
    folder: Path, records: int, rounds: int, in_flight: int = 64, latency_ms: float = 50.0
) -> Iterator[Beside]:
    """The job in ours and in each of the tools, in turn.

    Args:
        folder: for data, environments and what the tools write.
        records: of the job.
        rounds: pairs of runs with each tool.
        in_flight: calls at once; of a tool that cannot bound them, records.
        latency_ms: of the vendor.
    """
    data = write_retrieved(folder / f"retrieved-{records}.jsonl", records)
    with vendor(latency_ms) as server:
        setting = Setting(folder, data, records, server, in_flight)
        our_run(TWO_QUESTIONS, setting)
        for tool in TOOLS:
            # One that asks a single question stands beside ours of a single question, and beside the longer one too.
            for ours in (ONE_QUESTION, TWO_QUESTIONS) if tool.is_one_question else (TWO_QUESTIONS,):
                try:
                    pairs = [(our_run(ours, setting), their_run(tool, setting)) for _ in range(rounds)]
                except (RuntimeError, OSError, ValueError, CalledProcessError) as trouble:
                    yield Beside(tool, ours, [], _last_line(str(trouble)))
                    break
                yield Beside(tool, ours, pairs)


def our_run(ours: Ours, setting: Setting) -> Job:
    """Ours once; raises `RuntimeError` unless every record was scored."""
    flags = [*ours.words[1:], *at_once(setting.in_flight)]
    command = judged(EVALSI, ours.words[0], setting.data, setting.server.base_url, *flags)
    before = setting.server.calls()
    done = run_scored(command, setting.records, variables(setting.folder))
    return Job(done, setting.server.calls() - before)


def their_run(tool: Tool, setting: Setting) -> Job:
    """A tool once; raises likewise."""
    folder, data, records, server, in_flight = setting
    before = server.calls()
    if not tool.script:
        flags = ["--no-cache", "--concurrency", str(in_flight)]
        command = judged(ensure_peer(folder / "peer"), "faithfulness", data, server.base_url, *flags)
        done = run_scored(command, records, variables(folder) | OFFLINE)
        return Job(done, server.calls() - before)
    command = tool.command(folder, data, server.base_url, in_flight)
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
