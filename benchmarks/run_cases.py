"""The cases of a run: how near it comes to the ideal, what memory it holds, and how soon a broken one goes on.

Each is measured against the vendor on this machine, with start and end of the command taken off where it says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.judge_calls import EVALSI, KEY_VARIABLE, Vendor, variables, vendor
from benchmarks.measure import Run, run
from benchmarks.rows import Bench, Row
from evalsi_kernel.runs.event_log import EventLog
from evalsi_kernel.runs.progress import Progress
from tests.providers import MODEL

RECORDS, TRIALS, IN_FLIGHT, LATENCY_MS = 2_000, 3, 64, 50.0
FINISHED, OPEN = 100_000, 64
FEW: Final = 64
"""So many records make the run that is taken off: the start of the command, its end, and a round of calls a trial."""
_PAUSE_S = 0.02


def speed(bench: Bench) -> Iterator[Row]:
    """A run of three trials and three evaluators: its share of the ideal, and its memory on the way."""
    calls = (RECORDS - FEW) * TRIALS
    ideal_s = calls / IN_FLIGHT * LATENCY_MS / 1000
    with vendor(LATENCY_MS) as server:
        few, many = (_spec(bench.folder / f"run-{count}", server, count, TRIALS) for count in (FEW, RECORDS))
        _ran(few, bench)
        pairs = [(_ran(few, bench), _ran(many, bench)) for _ in range(bench.rounds)]
        third_mb, end_mb = _memory_mb(many, server, bench)
    share = median(ideal_s / (long.wall_s - short.wall_s) for short, long in pairs)
    cpu_ms = median((long.cpu_s - short.cpu_s) / calls * 1000 for short, long in pairs)
    what = f"run, {RECORDS:,} records × {TRIALS} trials × 3 evaluators, {IN_FLIGHT} at once × {LATENCY_MS:g} ms"
    whole = median(ideal_s / long.wall_s for _, long in pairs)
    ours = f"{cpu_ms:.2f} ms CPU an item, all our processes; {whole:.0%} with start and end of the command"
    yield Row(f"{what}: share of the ideal", ours, "", f"{share:.1%}", "≥ 85%", share >= 0.85)
    told = f"{end_mb:.0f} MB at the last call, {third_mb:.0f} MB at a third of them"
    yield Row(f"{what}: the kernel's memory", told, "", f"+{end_mb - third_mb:.1f} MB", "flat", end_mb - third_mb < 5)


def resume(bench: Bench) -> Iterator[Row]:
    """How soon a run with very many finished items makes its first new call."""
    with vendor(LATENCY_MS) as server:
        spec = _spec(bench.folder / "resumed", server, FINISHED + OPEN, 1)
        runs = _nearly_finished(spec, server, bench)
        found = [_resumed(spec, runs, server, bench) for _ in range(bench.rounds)]
    first_s, end_s = (median(one[part] for one in found) for part in (0, 1))
    yield Row(
        f"run that goes on, {FINISHED:,} items finished: from the command's start to its first call",
        f"{first_s:.2f} s; {end_s:.2f} s to its end, results written",
        "",
        f"{first_s:.2f} s",
        "≤ 2 s",
        first_s <= 2,
    )


def _spec(folder: Path, server: Vendor, records: int, trials: int) -> Path:
    """A spec beside its data."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = (
        {"id": f"r{number}", "question": f"What is the capital of country {number}?", "answer": "Lisbon"}
        for number in range(records)
    )
    (folder / "qa.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    target = {"connector": "openai-compatible", "model": MODEL, "base_url": server.base_url, "max_tokens": 64}
    spec = {
        "target": {**target, "api_key_env": KEY_VARIABLE, "max_concurrency": IN_FLIGHT},
        "dataset": {"path": "qa.jsonl", "mapping": {"input": "question", "reference": "answer"}},
        "evaluators": [{"ref": "exact-match"}, {"ref": "token-f1"}, {"ref": "latency"}],
        "trials": trials,
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps({"metadata": {"name": "run"}, "spec": spec}))
    return path


def _words(spec: Path, runs: Path) -> list[str]:
    return [EVALSI, "run", "-f", str(spec), "--runs", str(runs), "--quiet", "--format", "json"]


def _ran(spec: Path, bench: Bench) -> Run:
    runs = spec.parent / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    done = run(_words(spec, runs), variables(bench.folder))
    told: dict[str, Any] = json.loads(done.stdout)
    if (told["state"], told["done"]) != ("succeeded", told["items"]):
        raise RuntimeError(f"{spec} ended in the state {told['state']}, {told['done']} of {told['items']} done")
    return done


def _started(spec: Path, runs: Path, bench: Bench) -> subprocess.Popen[bytes]:
    """The command, going on; to be ended by who started it."""
    return subprocess.Popen(_words(spec, runs), stdout=subprocess.DEVNULL, env=os.environ | variables(bench.folder))


def _until_called(server: Vendor, calls: int, process: subprocess.Popen[bytes]) -> None:
    while server.calls() < calls:
        if process.poll() is not None:
            raise RuntimeError(f"the run ended with {process.returncode} before its call {calls}")
        time.sleep(_PAUSE_S)


def _memory_mb(spec: Path, server: Vendor, bench: Bench) -> tuple[float, float]:
    """What the kernel holds at a third of the calls and at the last."""
    runs = spec.parent / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    before, items = server.calls(), RECORDS * TRIALS
    with _started(spec, runs, bench) as process:
        held = []
        for calls in (items // 3, items):
            _until_called(server, before + calls, process)
            pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
            held.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
    return held[0], held[1]


def _nearly_finished(spec: Path, server: Vendor, bench: Bench) -> Path:
    """Runs in which all but a few items of one are finished: killed early, and its log filled up from its own items."""
    runs = spec.parent / "nearly"
    shutil.rmtree(runs, ignore_errors=True)
    before = server.calls()
    with _started(spec, runs, bench) as process:
        _until_called(server, before + 4 * IN_FLIGHT, process)
        process.kill()
    log = EventLog(runs / "run-1" / "events")
    progress = Progress(log, FINISHED + OPEN)
    done = next(progress.finished(range(len(progress)), again=False))
    answer, outcomes = progress.generated(done), progress.scored(done)
    assert answer is not None
    assert outcomes is not None
    for item in range(FINISHED):
        if progress.generated(item) is None:
            progress.add_generated(item, answer)
        if not progress.is_done(item):
            progress.add_scored(item, outcomes, failed=False)
    log.close()
    return runs


def _resumed(spec: Path, nearly: Path, server: Vendor, bench: Bench) -> tuple[float, float]:
    """Seconds from the start to the first call, and to the end."""
    runs = spec.parent / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    shutil.copytree(nearly, runs)
    before, started = server.calls(), time.perf_counter()
    with _started(spec, runs, bench) as process:
        _until_called(server, before + 1, process)
        first_s = time.perf_counter() - started
        if process.wait() != 0:
            raise RuntimeError(f"the run that went on ended with {process.returncode}")
    return first_s, time.perf_counter() - started


RUN_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {"run": speed, "resume": resume}
