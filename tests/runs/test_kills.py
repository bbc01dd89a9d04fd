"""Runs that are killed at random points, again and again: what the log holds is never lost and never asked again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evalsi_kernel.runs.event_log import EventLog
from evalsi_kernel.runs.history import FINISHED, History
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.run_folder import RunFolder
from tests.providers import KEY, Provider, fixed
from tests.runs.forking import BOUND_S, OUTPUT, Forked, forking
from tests.runs.running import MODEL_KEY, model_of, outcomes, records, results, write_spec

COUNT = 40
AT_ONCE = 8
WORDS = ("run", "-f", "run.yaml", "--quiet")
FEW, MANY = 12, 1000


class Held(NamedTuple):
    """What a log holds: its whole frames, the items that are answered, and whether the run is over."""

    frames: bytes
    answered: frozenset[int]
    is_over: bool


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MODEL_KEY, KEY)
        with forking() as process:
            yield process


def held(folder: Path) -> Held:
    """What the log of the run holds; the log itself is left as it is."""
    events, copy = folder / ".evalsi" / "runs" / "run-1" / "events", folder / "copy"
    copy.write_bytes(events.read_bytes() if events.exists() else b"")
    log = EventLog(copy)
    progress = Progress(log, COUNT)
    answered = frozenset(item for item in range(COUNT) if progress.generated(item) is not None)
    log.close()
    is_over = any(note.get("state") in FINISHED for note in progress.notes)
    return Held(copy.read_bytes(), answered, is_over)


def asked(vendor: Provider) -> Counter[int]:
    """How often each item was asked about."""
    return Counter(int(request.prompt.split()[-1].rstrip("?")) for request in vendor.requests)


def killed_until_done(
    folder: Path, vendor: Provider, server: subprocess.Popen[str], draw: random.Random, whole_s: float
) -> int:
    """A run that takes `whole_s` in one go, killed at random points until it comes to its end; returns how often."""
    write_spec(folder, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
    before, calls = Held(b"", frozenset(), is_over=False), asked(vendor)
    kills = 0
    while True:
        run = Forked(server, folder, WORDS)
        code = run.code_within(draw.uniform(0.0, whole_s))
        if code is None:
            os.kill(run.pid, signal.SIGKILL)
            code = run.code_within(BOUND_S)
        now, calls_now = held(folder), asked(vendor)
        assert now.frames.startswith(before.frames)
        assert not [item for item in before.answered if calls_now[item] != calls[item]]
        if code != -signal.SIGKILL:
            assert code == 0, (folder / OUTPUT).read_text()
            return kills
        kills += 1
        if now.is_over:
            return kills  # Only the process was not at its end yet.
        if now.answered == before.answered:
            whole_s *= 1.2  # On a machine that became slower it would else never come to its first answer.
        before, calls = now, calls_now


def check_folder(folder: Path) -> None:
    """What a killed process was writing is put in order by the next that opens the run, and all of it is there."""
    run = RunFolder(folder / ".evalsi" / "runs" / "run-1")
    log = EventLog(run.events)
    History(run, Progress(log, COUNT)).hint()
    log.close()
    assert {path.name for path in run.path.iterdir()} == {"events", "lock", "results.json", "run.json"}
    summary = json.loads((run.path / "run.json").read_text())
    assert (summary["state"], summary["done"]) == ("succeeded", COUNT)


def check_kills(folder: Path, server: subprocess.Popen[str], kills: int, seed: int) -> None:
    draw, seen, lives = random.Random(seed), 0, 0
    with Provider(fixed("Lisbon")) as vendor:
        # The first run in a process pays for what every later one finds ready; the second says how long one takes.
        for whole in (folder / "first", folder / "whole"):
            whole.mkdir()
            write_spec(whole, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
            started = time.monotonic()
            assert Forked(server, whole, WORDS).code_within(BOUND_S) == 0
            whole_s = time.monotonic() - started
        expected = results(whole)
        while seen < kills:
            lives += 1
            broken = folder / f"broken-{lives}"
            broken.mkdir()
            more = killed_until_done(broken, vendor, server, draw, whole_s)
            seen += more
            value = results(broken)
            assert outcomes(value) == outcomes(expected)
            assert value["summaries"] == expected["summaries"]
            check_folder(broken)
        total = sum(asked(vendor).values())
    # A call in flight when its process is killed is made again: nobody could know its answer.
    assert COUNT * (lives + 2) <= total <= COUNT * (lives + 2) + seen * AT_ONCE


def test_a_run_killed_at_random_points_loses_nothing_and_repeats_nothing(
    tmp_path: Path, server: subprocess.Popen[str]
) -> None:
    check_kills(tmp_path, server, FEW, seed=1)


@pytest.mark.kills
@pytest.mark.timeout(3600)
def test_a_thousand_kills_lose_nothing_and_repeat_nothing(tmp_path: Path, server: subprocess.Popen[str]) -> None:
    check_kills(tmp_path, server, MANY, seed=int(os.environ.get("EVALSI_KILLS_SEED", "2")))
