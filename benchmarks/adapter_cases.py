"""The cases of the adapters: what they add to a record, and a job through them beside the framework called directly."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Final

import uv

from benchmarks.judge_calls import vendor
from benchmarks.judge_data import write_retrieved
from benchmarks.judge_job import Ours, Setting, our_run, their_run
from benchmarks.judge_peers import DEEPEVAL, RAGAS, Tool
from benchmarks.rows import Bench, Row

ROOT: Final = Path(__file__).parents[1]
ADAPTERS: Final = ("deepeval", "ragas", "inspect", "lm_eval")
MAX_ADDED_MS: Final = 2.0
JOB_RECORDS: Final = 1000
# The broker's own most; the framework's calls are bounded by nothing.
OUR_CALLS_AT_ONCE: Final = 256
MAX_TIMES: Final = 1.2


def overhead(_bench: Bench) -> Iterator[Row]:
    """Processor time of a record, by the framework alone and through its adapter, 64 at once."""
    for adapter in ADAPTERS:
        words = [uv.find_uv_bin(), "run", "--frozen", "--quiet", "--project", f"adapters/{adapter}", "python", "-m"]
        done = subprocess.run(
            [*words, f"benchmarks.adapter_tools.{adapter}_overhead"],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
            | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        for found in map(json.loads, done.stdout.splitlines()):
            yield Row(
                f"`{found['evaluator']}`, CPU of a record, host loop and wire included",
                f"{found['ours_ms']:.2f} ms",
                f"{found['alone_ms']:.2f} ms (the framework alone)",
                f"+{found['added_ms']:.2f} ms",
                f"≤ {MAX_ADDED_MS:g} ms",
                found["added_ms"] <= MAX_ADDED_MS,
            )


def job(bench: Bench) -> Iterator[Row]:
    """Faithfulness of a thousand records through the adapter, and by the framework with nothing that bounds it."""
    data = write_retrieved(bench.folder / f"retrieved-{JOB_RECORDS}.jsonl", JOB_RECORDS)
    with vendor(50.0) as server:
        setting = Setting(bench.folder, data, JOB_RECORDS, server, OUR_CALLS_AT_ONCE)
        unbounded = setting._replace(in_flight=JOB_RECORDS)
        for tool, name in ((DEEPEVAL, "deepeval"), (RAGAS, "ragas")):
            ours = Ours(f"`{name}/faithfulness`", (f"{name}/faithfulness",))
            # A fresh environment, and uncompiled modules, are for nobody's time.
            our_run(ours, setting)
            for their, how in ((tool, "its own client"), (_plain(tool), "a bare HTTP client")):
                their_run(their, unbounded)
                pairs = [(our_run(ours, setting), their_run(their, unbounded)) for _ in range(bench.rounds)]
                times = median(our.run.wall_s / other.run.wall_s for our, other in pairs)
                best, beside = (min((pair[side] for pair in pairs), key=lambda one: one.run.wall_s) for side in (0, 1))
                yield Row(
                    f"faithfulness of {JOB_RECORDS:,} records × 50 ms: {ours.name}",
                    str(best),
                    f"{tool.name} with {how}: {beside}",
                    f"{times:.2f} ×",
                    f"≤ {MAX_TIMES:g} ×",
                    times <= MAX_TIMES,
                )


def _plain(tool: Tool) -> Tool:
    return tool._replace(script=f"{tool.script}_plain")


ADAPTER_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {"adapter-overhead": overhead, "adapter-job": job}
